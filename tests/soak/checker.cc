// soak_checker [--seed N] [--seconds N] [--first-round N] [--rounds N] [--workers N] [--calm]
//   [--keep-memory] [--spoil]
//
// Processes that send each other all that verbs have, and look at every byte, while memory comes
// and goes, children are forked, and either side is stopped or killed. Written against
// <rdma/rdma_cma.h> only; to be run under `anyrdma run`. Same seed, same messages; when what
// happens is the machine's affair.
//
// Ends with 0 and a line that says what it has done, or with 1 and whatever went wrong, each with
// its seed and round: `--seed N --first-round R --rounds 1` repeats one.
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/soak/dice.h"
#include "tests/soak/finding.h"
#include "tests/soak/link.h"
#include "tests/soak/step.h"
#include "tests/soak/trouble.h"

namespace {

using namespace anyrdma::soak;  // NOLINT: this program is about nothing else
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kWorkersMax = 8;
constexpr auto kRoundMax = std::chrono::seconds(180);  // a deadline: what takes longer hangs

struct Options {
  std::uint64_t seed = 1;
  std::uint64_t first_round = 0;
  std::uint64_t rounds = ~std::uint64_t{0};
  long seconds = 10;
  std::size_t workers = 2;
  bool calm = false;         ///< nobody is stopped or killed
  bool keep_memory = false;  ///< what peers may reach stays mapped
  bool spoil = false;        ///< data are wrong, and must be found to be
};

volatile std::sig_atomic_t interrupted = 0;

// --- one side -----------------------------------------------------------------------------------

void talk(Role role, int control, const Options& options, std::uint64_t round, std::size_t worker) {
  Link link(role, control);
  std::optional<Trouble> trouble;
  const auto side = static_cast<std::uint64_t>(role);
  Dice shared({options.seed, round, worker});
  trouble.emplace(link.pd(), Dice({options.seed, round, worker, side}),
                  worker == 0 ? Trouble::Signals::kYes : Trouble::Signals::kNo);
  const std::size_t steps = 20 + shared.below(100);
  link.remap(std::size_t{1} << 20);
  for (std::size_t step = 0; step < steps; ++step) {
    switch (shared.below(8)) {
      case 0:
        link.remap(std::size_t{1} << (14 + shared.below(9)));
        break;
      case 1:
        link.reregister();
        break;
      case 2:
        link.open_window(IBV_MW_TYPE_1);
        break;
      case 3:
        link.open_window(IBV_MW_TYPE_2);
        break;
      default:
        break;
    }
    Batch batch = draw_batch(Dice({shared.next()}), link.memory().size(), link.mtu());
    batch.spoil = options.spoil;
    carry_out(link, role, batch, Dice({options.seed, round, worker, step, side}));
  }
  trouble.reset();
  if (shared.one_in(4) && !options.keep_memory) pull_the_rug(link, role, Dice({shared.next()}));
}

[[noreturn]] void play(Role role, const std::array<int, kWorkersMax>& controls,
                       const Options& options, std::uint64_t round) {
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  (void)::signal(SIGINT, SIG_IGN);  // the first process ends us
  set_place({role == Role::kServer ? "server" : "client", options.seed, round});
  std::vector<std::thread> workers;
  for (std::size_t i = 0; i < options.workers; ++i)
    workers.emplace_back([&, i] { talk(role, controls[i], options, round, i); });
  for (std::thread& worker : workers) worker.join();
  ::_exit(0);
}

// --- one round ----------------------------------------------------------------------------------

struct Player {
  pid_t pid = -1;
  int end = -1;  ///< a descriptor that is readable when it has ended
  bool killed = false;
};

class Round {
 public:
  Round(const Options& options, std::uint64_t number)
      : options_(options), number_(number), dice_({options.seed, number, 99}) {
    std::array<std::array<int, kWorkersMax>, 2> controls{};
    for (std::size_t i = 0; i < options.workers; ++i) {
      std::array<int, 2> ends{};
      require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0, "socketpair");
      controls[0][i] = ends[0];
      controls[1][i] = ends[1];
    }
    for (std::size_t i = 0; i < 2; ++i) start(i, controls);
    for (const auto& side : controls)
      for (std::size_t i = 0; i < options.workers; ++i) (void)::close(side[i]);
  }

  /// Whether both have ended as they should.
  bool run() {
    const auto end = Clock::now() + kRoundMax;
    const bool kills = !options_.calm && dice_.one_in(4);
    const bool stops = !options_.calm && dice_.one_in(2);
    const milliseconds kill_after(kills ? 1 + dice_.below(3000) : 0);
    const auto kill_at = Clock::now() + kill_after;
    while (running()) {
      if (Clock::now() > end || interrupted != 0) return give_up();
      if (kills && !any_killed() && Clock::now() >= kill_at) kill(players_[dice_.below(2)]);
      if (stops && dice_.one_in(3)) stop_for_a_while(players_[dice_.below(2)]);
      wait(milliseconds(20 + static_cast<long>(dice_.below(200))));
    }
    const bool server_well = ended_well(0);
    return ended_well(1) && server_well;  // both are reaped
  }

 private:
  void start(std::size_t which, const std::array<std::array<int, kWorkersMax>, 2>& controls) {
    std::fflush(nullptr);
    Player& player = players_[which];
    player.pid = ::fork();
    require(player.pid >= 0, "fork");
    if (player.pid == 0) {
      for (std::size_t i = 0; i < options_.workers; ++i) (void)::close(controls[1 - which][i]);
      play(which == 0 ? Role::kServer : Role::kClient, controls[which], options_, number_);
    }
    player.end = static_cast<int>(::syscall(SYS_pidfd_open, player.pid, 0));
    require(player.end >= 0, "pidfd_open");
  }
  [[nodiscard]] static bool runs(const Player& player) {
    pollfd end{player.end, POLLIN, 0};
    return ::poll(&end, 1, 0) == 0;
  }
  [[nodiscard]] bool running() const { return runs(players_[0]) || runs(players_[1]); }
  [[nodiscard]] bool any_killed() const { return players_[0].killed || players_[1].killed; }

  /// Until one of those that run has ended, or for so long.
  void wait(milliseconds time) const {
    std::array<pollfd, 2> ends{};
    nfds_t count = 0;
    for (const Player& player : players_)
      if (runs(player)) ends[count++] = {player.end, POLLIN, 0};
    (void)::poll(ends.data(), count, static_cast<int>(time.count()));
  }
  static void kill(Player& player) {
    if (!runs(player)) return;
    player.killed = true;
    (void)::kill(player.pid, SIGKILL);
  }
  void stop_for_a_while(const Player& player) {
    if (!runs(player)) return;
    (void)::kill(player.pid, SIGSTOP);
    wait(milliseconds(1 + static_cast<long>(dice_.below(500))));
    (void)::kill(player.pid, SIGCONT);
  }
  bool give_up() {
    if (interrupted == 0) {
      std::fprintf(stderr, "HANGS: seed %llu, round %llu\n", number(options_.seed),
                   number(number_));
    }
    for (Player& player : players_) {
      if (interrupted == 0 && runs(player)) (void)::kill(player.pid, SIGABRT);
      wait(milliseconds(interrupted == 0 ? 2000 : 0));
      (void)::kill(player.pid, SIGKILL);
      (void)::waitpid(player.pid, nullptr, 0);
      (void)::close(player.end);
    }
    return interrupted != 0;
  }
  bool ended_well(std::size_t which) {
    const Player& player = players_[which];
    int status = 0;
    (void)::waitpid(player.pid, &status, 0);
    (void)::close(player.end);
    if (player.killed || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) return true;
    const char* const role = which == 0 ? "server" : "client";
    if (WIFEXITED(status) && WEXITSTATUS(status) > 1 && any_killed()) return true;
    std::fprintf(stderr, "FINDING: seed %llu, round %llu: the %s ended with %s %d%s\n",
                 number(options_.seed), number(number_), role,
                 WIFEXITED(status) ? "status" : "signal",
                 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status),
                 any_killed() ? " (the other was killed)" : "");
    return false;
  }
  [[nodiscard]] static unsigned long long number(std::uint64_t value) { return value; }

  const Options& options_;
  std::uint64_t number_;
  Dice dice_;
  std::array<Player, 2> players_;
};

bool parse(int count, char** arguments, Options& options) {
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    if (name == "--calm" || name == "--keep-memory" || name == "--spoil") {
      options.calm |= name == "--calm";
      options.keep_memory |= name == "--keep-memory";
      options.spoil |= name == "--spoil";
      continue;
    }
    if (++i == count) return false;
    const std::uint64_t value = std::strtoull(arguments[i], nullptr, 10);
    if (name == "--seed") {
      options.seed = value;
    } else if (name == "--seconds") {
      options.seconds = static_cast<long>(value);
    } else if (name == "--first-round") {
      options.first_round = value;
    } else if (name == "--rounds") {
      options.rounds = value;
    } else if (name == "--workers" && value >= 1 && value <= kWorkersMax) {
      options.workers = value;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  Options options;
  if (!parse(count, arguments, options)) {
    std::fprintf(
        stderr,
        "usage: %s [--seed N] [--seconds N] [--first-round N] [--rounds N] [--workers 1-8] "
        "[--calm] [--keep-memory] [--spoil]\n",
        arguments[0]);
    return 2;
  }
  (void)totals();
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  (void)::sigaction(SIGINT, &action, nullptr);
  (void)::sigaction(SIGTERM, &action, nullptr);
  const auto end = Clock::now() + std::chrono::seconds(options.seconds);
  std::uint64_t round = options.first_round;
  std::uint64_t bad = 0;
  for (; round - options.first_round < options.rounds && Clock::now() < end; ++round) {
    bad += Round(options, round).run() ? 0 : 1;
    if (interrupted != 0) break;
  }
  const Totals& all = totals();
  std::printf(
      "seed %llu: %llu rounds, %llu steps, %llu messages, %llu MB, %llu lost by unreliable "
      "services, %llu troubles, %llu bad rounds\n",
      static_cast<unsigned long long>(options.seed),
      static_cast<unsigned long long>(round - options.first_round),
      static_cast<unsigned long long>(all.steps), static_cast<unsigned long long>(all.messages),
      static_cast<unsigned long long>(all.bytes / 1'000'000),
      static_cast<unsigned long long>(all.lost), static_cast<unsigned long long>(all.troubles),
      static_cast<unsigned long long>(bad));
  return bad == 0 ? 0 : 1;
}
