// Two processes over the fabric, each on a processor of its own: what a message costs beside what
// the bare machine needs for the same, in the same run. Ratios, because only they mean something on
// another machine.
#include <infiniband/verbs.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "tests/bench/reliable_connection.h"
#include "transport/fabric/fabric.h"
#include "transport/fabric/rendezvous/testing/scratch.h"

namespace {

using namespace anyrdma;
using transport::fabric::Fabric;

constexpr int kRounds = 5;  // the best of which counts, for other work beside only makes them worse
constexpr int kPings = 50'000;
constexpr int kMessages = 400'000;
constexpr int kWrites = 20'000;
constexpr std::uint32_t kLarge = 65'536;
constexpr std::uint32_t kWindow = 128;      // sends that are on their way
constexpr std::uint32_t kSignalEvery = 32;  // of those, one asks for a completion
constexpr std::uint32_t kReceives = 1024;   // that wait
constexpr std::uint32_t kReceivesAtOnce = 16;
constexpr std::uint32_t kLoopbackIndex = 1;  // of every process's GID table

/// What the two processes share besides the fabric.
struct Board {
  struct alignas(64) Word {
    std::atomic<std::uint32_t> value;
  };
  struct Side {
    std::uint32_t qpn;
    std::uint32_t rkey;
    std::uint64_t address;
    std::uint64_t raw;  ///< memory that nobody has registered
    pid_t pid;
  };
  std::array<Word, 2> ball;
  std::array<Word, 2> arrived;
  std::array<Side, 2> sides;
  sem_t done;  ///< shared between processes
};

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "fabric_bench: %s\n", what);
  std::exit(1);
}
void require(bool good, const char* what) {
  if (!good) fail(what);
}

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// One process: a queue pair and its memory.
class Player {
 public:
  Player(Board& board, unsigned number, const transport::fabric::FabricConfig& config)
      : board_(board), number_(number), fabric_(Fabric::open(config).value()) {
    ibv_device* const device = fabric_->transport().devices()[0];
    provider_ = &fabric_->transport().provider_of(device);
    ibv_context* const context = provider_->open_device(device).value();
    ibv_pd* const pd = provider_->alloc_pd(context).value();
    cq_ = provider_->create_cq(context, 4096, nullptr, nullptr, 0).value();
    constexpr unsigned kAccess =
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    mr_ = provider_->reg_mr(pd, memory_.get(), kMemory, address(), kAccess).value();
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq_;
    init.qp_type = IBV_QPT_RC;
    init.cap = {.max_send_wr = 2 * kWindow,
                .max_recv_wr = 2 * kReceives,
                .max_send_sge = 1,
                .max_recv_sge = 1,
                .max_inline_data = 64};
    qp_ = provider_->create_qp(pd, &init).value();
    board_.sides[number_] = {qp_->qp_num, mr_->rkey, address(),
                             reinterpret_cast<std::uintptr_t>(raw_.get()), ::getpid()};
    (void)::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);  // for raw calls of the other
    meet();
    connect();
    for (std::uint32_t i = 0; i < kReceives; i += kReceivesAtOnce) post_receives(kReceivesAtOnce);
    pin();
    meet();
  }

  /// Both are here.
  void meet() {
    const std::uint32_t round = board_.arrived[number_].value.fetch_add(1) + 1;
    while (board_.arrived[1 - number_].value.load() < round) ::sched_yield();
  }

  double bare_ping_pong();
  double raw_latency();
  double raw_bandwidth();
  double write_latency();
  double send_ping_pong();
  double write_ping_pong();
  double message_rate();
  double write_bandwidth();
  double polled_write_bandwidth();
  double read_bandwidth();
  double polled_read_bandwidth();
  double copy_bandwidth();
  double switches_asleep();

 private:
  [[nodiscard]] double bandwidth(ibv_wr_opcode opcode, bool polled);
  [[nodiscard]] std::uint64_t address() const {
    return reinterpret_cast<std::uintptr_t>(memory_.get());
  }
  void pin() const {
    if (std::min(2L, ::sysconf(_SC_NPROCESSORS_ONLN)) < 2) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(number_, &set);
    (void)::sched_setaffinity(0, sizeof set, &set);
  }
  /// What the kernel needs to copy as much into the other process, without anything of ours.
  void write_raw(std::uint32_t length) const;
  void connect();
  void post_receives(std::uint32_t count);
  void post(ibv_wr_opcode opcode, std::uint32_t length, unsigned flags);
  /// Completions until there are so many of a kind.
  void await_receive();
  void await_sends(std::uint32_t count);

  Board& board_;
  unsigned number_;
  std::unique_ptr<Fabric> fabric_;
  verbs::Provider* provider_ = nullptr;
  ibv_cq* cq_ = nullptr;
  ibv_mr* mr_ = nullptr;
  ibv_qp* qp_ = nullptr;
  /// Whole pages, as programs register them.
  static constexpr std::size_t kMemory = std::size_t{4} << 20;
  struct Free {
    void operator()(std::uint8_t* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::uint8_t, Free> memory_{
      static_cast<std::uint8_t*>(std::memset(std::aligned_alloc(4096, kMemory), 0, kMemory))};
  std::unique_ptr<std::uint8_t, Free> raw_{
      static_cast<std::uint8_t*>(std::memset(std::aligned_alloc(4096, kLarge), 0, kLarge))};
  std::uint32_t sent_ = 0;      // completions that were seen
  std::uint32_t received_ = 0;  // likewise
};

void Player::connect() {
  constexpr ibv_gid kLoopback = {.raw = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1}};
  ibv_qp_attr attr = bench::connection_to(board_.sides[1 - number_].qpn, kLoopback);
  attr.ah_attr.grh.sgid_index = kLoopbackIndex;
  attr.ah_attr.grh.hop_limit = 64;
  attr.min_rnr_timer = 1;
  attr.timeout = 18;
  bench::connect_by_hand(attr, [&](ibv_qp_attr* to, int mask) {
    require(provider_->modify_qp(qp_, to, mask).has_value(), "modify_qp");
  });
}

void Player::post_receives(std::uint32_t count) {
  std::array<ibv_recv_wr, kReceivesAtOnce> requests{};
  ibv_sge sge{address(), 64, mr_->lkey};
  for (std::uint32_t i = 0; i < count; ++i) {
    requests[i].sg_list = &sge;
    requests[i].num_sge = 1;
    requests[i].next = i + 1 < count ? &requests[i + 1] : nullptr;
  }
  ibv_recv_wr* bad = nullptr;
  require(ibv_post_recv(qp_, requests.data(), &bad) == 0, "post_recv");
}

void Player::post(ibv_wr_opcode opcode, std::uint32_t length, unsigned flags) {
  const Board::Side& peer = board_.sides[1 - number_];
  ibv_sge sge{address() + kLarge, length, mr_->lkey};
  ibv_send_wr request{};
  request.sg_list = &sge;
  request.num_sge = 1;
  request.opcode = opcode;
  request.send_flags = flags;
  request.wr.rdma.remote_addr = peer.address;
  request.wr.rdma.rkey = peer.rkey;
  ibv_send_wr* bad = nullptr;
  require(ibv_post_send(qp_, &request, &bad) == 0, "post_send");
}

void Player::await_receive() {
  std::array<ibv_wc, 16> completions;
  for (const std::uint32_t before = received_; received_ == before;) {
    const int count = ibv_poll_cq(cq_, 16, completions.data());
    for (int i = 0; i < count; ++i) {
      const ibv_wc& wc = completions[static_cast<std::size_t>(i)];
      require(wc.status == IBV_WC_SUCCESS, "completion");
      ++((wc.opcode & IBV_WC_RECV) != 0 ? received_ : sent_);
    }
  }
}

void Player::await_sends(std::uint32_t count) {
  std::array<ibv_wc, 16> completions;
  while (sent_ < count) {
    const int got = ibv_poll_cq(cq_, 16, completions.data());
    for (int i = 0; i < got; ++i) {
      const ibv_wc& wc = completions[static_cast<std::size_t>(i)];
      require(wc.status == IBV_WC_SUCCESS, "completion");
      ++((wc.opcode & IBV_WC_RECV) != 0 ? received_ : sent_);
    }
  }
}

// --- what is measured; every result is that of player 0 -----------------------------------------

/// Nanoseconds one way between two words of memory.
double Player::bare_ping_pong() {
  board_.ball[number_].value = 0;
  meet();
  const double start = seconds();
  for (std::uint32_t i = 1; i <= kPings; ++i) {
    if (number_ == 0) board_.ball[0].value.store(i, std::memory_order_release);
    while (board_.ball[1 - number_].value.load(std::memory_order_acquire) != i) {
    }
    if (number_ == 1) board_.ball[1].value.store(i, std::memory_order_release);
  }
  return (seconds() - start) / kPings / 2 * 1e9;
}

void Player::write_raw(std::uint32_t length) const {
  const Board::Side& peer = board_.sides[1 - number_];
  const iovec from{raw_.get(), length};
  const iovec to{reinterpret_cast<void*>(peer.raw), length};  // NOLINT(performance-no-int-to-ptr)
  require(::process_vm_writev(peer.pid, &from, 1, &to, 1, 0) == static_cast<ssize_t>(length),
          "process_vm_writev");
}

/// Nanoseconds of a call that writes 8 bytes into a process that sleeps.
double Player::raw_latency() {
  meet();
  if (number_ == 1) return 0;
  const double start = seconds();
  for (int i = 0; i < kPings; ++i) write_raw(8);
  return (seconds() - start) / kPings * 1e9;
}

/// Bytes per second, likewise with 64 KiB.
double Player::raw_bandwidth() {
  meet();
  if (number_ == 1) return 0;
  const double start = seconds();
  for (int i = 0; i < kWrites; ++i) write_raw(kLarge);
  return double{kWrites} * kLarge / (seconds() - start);
}

/// Nanoseconds from posting a WRITE of 8 bytes to its completion, one at a time, to a process that
/// sleeps.
double Player::write_latency() {
  sent_ = 0;
  meet();
  if (number_ == 1) return 0;
  const double start = seconds();
  for (std::uint32_t i = 1; i <= kPings; ++i) {
    post(IBV_WR_RDMA_WRITE, 8, IBV_SEND_INLINE | IBV_SEND_SIGNALED);
    await_sends(i);
  }
  return (seconds() - start) / kPings * 1e9;
}

/// Nanoseconds one way with a SEND of 8 bytes.
double Player::send_ping_pong() {
  received_ = sent_ = 0;
  meet();
  const double start = seconds();
  for (std::uint32_t i = 1; i <= kPings; ++i) {
    if (number_ == 0) post(IBV_WR_SEND, 8, IBV_SEND_INLINE | IBV_SEND_SIGNALED);
    await_receive();
    if (number_ == 1) post(IBV_WR_SEND, 8, IBV_SEND_INLINE | IBV_SEND_SIGNALED);
    post_receives(1);
  }
  const double result = (seconds() - start) / kPings / 2 * 1e9;
  await_sends(kPings);
  meet();
  return result;
}

/// Nanoseconds one way with a WRITE of 8 bytes, for which the other side looks in its memory.
double Player::write_ping_pong() {
  sent_ = 0;
  std::uint8_t* const out = memory_.get() + kLarge;
  const volatile std::uint8_t* const in = memory_.get();
  memory_.get()[7] = 0;
  meet();
  const int pings = kPings / 10;
  const double start = seconds();
  for (int i = 1; i <= pings; ++i) {
    const auto turn = static_cast<std::uint8_t>(i);
    std::memset(out, turn, 8);
    if (number_ == 0) post(IBV_WR_RDMA_WRITE, 8, IBV_SEND_INLINE | IBV_SEND_SIGNALED);
    if (number_ == 0) await_sends(static_cast<std::uint32_t>(i));
    while (in[7] != turn) {
    }
    if (number_ == 1) post(IBV_WR_RDMA_WRITE, 8, IBV_SEND_INLINE | IBV_SEND_SIGNALED);
    if (number_ == 1) await_sends(static_cast<std::uint32_t>(i));
  }
  const double result = (seconds() - start) / pings / 2 * 1e9;
  meet();
  return result;
}

/// SENDs of 8 bytes per second from player 0 to player 1.
double Player::message_rate() {
  sent_ = received_ = 0;
  meet();
  const double start = seconds();
  if (number_ == 0) {
    for (std::uint32_t i = 1; i <= kMessages; ++i) {
      const bool signal = i % kSignalEvery == 0;
      if (i > kWindow) await_sends((i - kWindow) / kSignalEvery);
      post(IBV_WR_SEND, 8, IBV_SEND_INLINE | (signal ? unsigned{IBV_SEND_SIGNALED} : 0u));
    }
    await_sends(kMessages / kSignalEvery);
  } else {
    for (std::uint32_t posted = 0; received_ < kMessages;) {
      await_receive();
      for (; received_ - posted >= kReceivesAtOnce; posted += kReceivesAtOnce)
        post_receives(kReceivesAtOnce);
    }
  }
  const double result = kMessages / (seconds() - start);
  meet();
  return result;
}

/// Bytes per second with requests of 64 KiB, 16 under way. Player 1 sleeps, or polls for
/// completions that never come, as a server does that is to answer soon.
double Player::bandwidth(ibv_wr_opcode opcode, bool polled) {
  sent_ = 0;
  meet();
  const double start = seconds();
  if (number_ == 0) {
    for (std::uint32_t i = 1; i <= kWrites; ++i) {
      if (i > 16) await_sends(i - 16);
      post(opcode, kLarge, IBV_SEND_SIGNALED);
    }
    await_sends(kWrites);
    ::sem_post(&board_.done);
  } else if (polled) {
    ibv_wc none;
    while (::sem_trywait(&board_.done) != 0) (void)ibv_poll_cq(cq_, 1, &none);
  } else {
    while (::sem_wait(&board_.done) != 0) {
    }
  }
  const double result = double{kWrites} * kLarge / (seconds() - start);
  meet();
  return result;
}
double Player::write_bandwidth() {
  return bandwidth(IBV_WR_RDMA_WRITE, false);
}
double Player::polled_write_bandwidth() {
  return bandwidth(IBV_WR_RDMA_WRITE, true);
}
double Player::read_bandwidth() {
  return bandwidth(IBV_WR_RDMA_READ, false);
}
double Player::polled_read_bandwidth() {
  return bandwidth(IBV_WR_RDMA_READ, true);
}

double Player::copy_bandwidth() {
  meet();
  if (number_ == 1) return 0;
  const double start = seconds();
  for (int i = 0; i < kWrites; ++i) {
    std::memcpy(memory_.get(), memory_.get() + kLarge, kLarge);
    asm volatile("" ::: "memory");
  }
  return double{kWrites} * kLarge / (seconds() - start);
}

/// How often the system gives a processor to this process, which is connected and sleeps, in a
/// second.
double Player::switches_asleep() {
  meet();
  rusage before{};
  rusage after{};
  ::getrusage(RUSAGE_SELF, &before);
  (void)::poll(nullptr, 0, 1000);
  ::getrusage(RUSAGE_SELF, &after);
  return static_cast<double>(after.ru_nvcsw - before.ru_nvcsw);
}

struct Measure {
  const char* name;
  double (Player::*run)();
  const char* unit;
  double scale;
  const char* beside = "";  ///< the name of what it is compared with
  const char* saying = "";  ///< in which words
};
constexpr const char* kBare = "bare shared-memory ping-pong, one way";
constexpr const char* kRawCall = "process_vm_writev of 8 bytes";
constexpr const char* kRawRate = "process_vm_writev of 64 KiB";
constexpr const char* kCopy = "memcpy of 64 KiB";
constexpr std::array kMeasures{
    Measure{kBare, &Player::bare_ping_pong, "ns", 1},
    Measure{kRawCall, &Player::raw_latency, "ns", 1},
    Measure{"8-byte WRITE, until it is complete", &Player::write_latency, "ns", 1, kRawCall,
            "x the raw call"},
    Measure{"8-byte WRITE, one way, both polling", &Player::write_ping_pong, "ns", 1, kRawCall,
            "x the raw call"},
    Measure{"8-byte SEND, one way", &Player::send_ping_pong, "ns", 1, kBare, "x the bare one"},
    Measure{"8-byte SENDs, window of 128", &Player::message_rate, "million/s", 1e-6},
    Measure{kCopy, &Player::copy_bandwidth, "GB/s", 1e-9},
    Measure{kRawRate, &Player::raw_bandwidth, "GB/s", 1e-9, kCopy, "of memcpy"},
    Measure{"64 KiB WRITEs to a process that sleeps", &Player::write_bandwidth, "GB/s", 1e-9,
            kRawRate, "of the raw call's"},
    Measure{"64 KiB READs from a process that sleeps", &Player::read_bandwidth, "GB/s", 1e-9,
            kRawRate, "of the raw call's"},
    Measure{"64 KiB WRITEs to a process that polls", &Player::polled_write_bandwidth, "GB/s", 1e-9,
            kRawRate, "of the raw call's"},
    Measure{"64 KiB READs from a process that polls", &Player::polled_read_bandwidth, "GB/s", 1e-9,
            kRawRate, "of the raw call's"},
    Measure{"context switches, asleep", &Player::switches_asleep, "a second", 1},
};
using Figures = std::array<std::array<double, kRounds>, kMeasures.size()>;

/// Both players do the same things in the same order. `wanted` is a part of the names of those.
Figures play(Player& player, const char* wanted) {
  Figures figures{};
  for (std::size_t round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < kMeasures.size(); ++i) {
      if (std::strstr(kMeasures[i].name, wanted) == nullptr) continue;
      figures[i][round] = (player.*kMeasures[i].run)();
    }
  }
  return figures;
}

double best(const Measure& measure, const std::array<double, kRounds>& values) {
  const bool is_rate = measure.scale != 1;
  return is_rate ? std::ranges::max(values) : std::ranges::min(values);
}

/// The best of the measure of that name; 0: it was not taken.
double figure(const Figures& figures, std::string_view name) {
  for (std::size_t i = 0; i < kMeasures.size(); ++i)
    if (kMeasures[i].name == name) return best(kMeasures[i], figures[i]);
  return 0;
}

void print(const Figures& figures) {
  for (std::size_t i = 0; i < kMeasures.size(); ++i) {
    const Measure& measure = kMeasures[i];
    if (figures[i] == Figures::value_type{}) continue;
    const double value = best(measure, figures[i]);
    std::printf("%-40s %8.2f %s", measure.name, value * measure.scale, measure.unit);
    const double beside = figure(figures, measure.beside);
    if (beside != 0) std::printf("  %.2f %s", value / beside, measure.saying);
    std::printf("\n");
  }
}

}  // namespace

// An argument that is not an option names some of the measures.
int main(int count, char** arguments) {
  const char* wanted = "";
  for (int i = 1; i < count; ++i)
    if (arguments[i][0] != '-') wanted = arguments[i];
  transport::fabric::testing::Scratch scratch;
  void* const shared =
      ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  require(shared != MAP_FAILED, "mmap");
  auto& board = *new (shared) Board{};
  require(::sem_init(&board.done, 1, 0) == 0, "sem_init");
  const pid_t child = ::fork();
  require(child >= 0, "fork");
  if (child == 0) {
    Player player(board, 1, scratch.config());
    (void)play(player, wanted);
    player.meet();
    std::_Exit(0);
  }
  Player player(board, 0, scratch.config());
  print(play(player, wanted));
  player.meet();
  ::waitpid(child, nullptr, 0);
  return 0;
}
