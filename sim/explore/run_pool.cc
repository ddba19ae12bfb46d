#include "sim/explore/run_pool.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "verbs/assert.h"

namespace anyrdma::sim {
namespace {

/// Numbers in a row that one process takes; enough to seldom wait for each other.
constexpr std::uint64_t kChunk = 16;
constexpr int kPipeBytes = 1 << 20;
/// How long a call may still take when nobody wants its result any more.
constexpr std::chrono::milliseconds kFarewell = std::chrono::seconds(2);
/// Between two looks at whether to stop.
constexpr std::chrono::milliseconds kGlance = std::chrono::milliseconds(100);

/// Of this process, which works for another.
volatile std::sig_atomic_t leaving = 0;

void leave(int /*signal*/) {
  leaving = 1;
}

/// So that who is told to end does so between two calls.
void heed_signals() {
  struct sigaction action {};
  action.sa_handler = leave;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
}

/// Away from the terminal: Ctrl-C is its parent's to hear of, and programs do not read there. And
/// where Linux shares processors out between sessions (sched(7), autogroup): 6.18 gives all there
/// is to a session of several that wait for each other without a pause, as tracers do.
void step_back() {
  (void)::setsid();
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing > 0) ::dup2(nothing, STDIN_FILENO), ::close(nothing);
}

bool write_all(int fd, const char* bytes, std::size_t size) {
  while (size != 0) {
    const ssize_t written = ::write(fd, bytes, size);
    if (written < 0 && errno == EINTR && leaving == 0) continue;
    if (written <= 0) return false;
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

/// A forked process that writes one record after the other, each with its length before it.
class Worker {
 public:
  Worker(std::uint64_t from, std::uint64_t count, std::uint64_t stride, const Produce& produce) {
    int ends[2];
    CM_ASSERT(::pipe2(ends, O_CLOEXEC) == 0);
    (void)::fcntl(ends[1], F_SETPIPE_SZ, kPipeBytes);  // a smaller one is only slower
    std::fflush(nullptr);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    CM_ASSERT(pid_ >= 0);
    if (pid_ == 0) {
      (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(1);
      heed_signals();
      step_back();
      work(ends[1], from, count, stride, produce);
    }
    ::close(ends[1]);
    fd_ = ends[0];
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    if (!reaped_ && asked_) drain();
    ::close(fd_);
    if (!reaped_) (void)reap(SIGKILL);
  }

  /// To end after its call, if that ends soon.
  void ask_to_end() { asked_ = !late_ && !reaped_ && ::kill(pid_, SIGTERM) == 0; }

  /// The next record; none when the process died before it was complete, took too long, or nobody
  /// wants it any more.
  [[nodiscard]] std::optional<std::string> next(const PoolOptions& options) {
    std::uint64_t size = 0;
    if (!read_all(reinterpret_cast<char*>(&size), sizeof size, options)) return std::nullopt;
    std::string bytes(size, '\0');
    if (!read_all(bytes.data(), size, options)) return std::nullopt;
    return bytes;
  }

  /// Why there is no record.
  [[nodiscard]] std::string death(const PoolOptions& options) {
    if (greedy_) {
      const auto spent = std::chrono::duration<double>(options.processor_time).count();
      char text[96];
      std::snprintf(text, sizeof text, "the run did not end: it computed for %g s, and was killed",
                    spent);
      return text;
    }
    if (late_) return "the run did not end, and was killed";
    const int status = reap(0);
    if (WIFSIGNALED(status)) {
      return std::string("the process died of signal ") + strsignal(WTERMSIG(status));
    }
    return "the process exited with status " + std::to_string(WEXITSTATUS(status));
  }

 private:
  [[noreturn]] static void work(int fd, std::uint64_t from, std::uint64_t count,
                                std::uint64_t stride, const Produce& produce) {
    for (std::uint64_t i = from; i < count && leaving == 0;) {
      const std::string bytes = produce(i);
      const std::uint64_t size = bytes.size();
      if (!write_all(fd, reinterpret_cast<const char*>(&size), sizeof size)) break;
      if (!write_all(fd, bytes.data(), bytes.size())) break;
      ++i;
      if (i % kChunk == 0) i += stride - kChunk;
    }
    std::fflush(nullptr);
    ::_exit(leaving == 0 ? 0 : 128 + SIGTERM);
  }

  /// Of a processor, so far.
  [[nodiscard]] std::chrono::nanoseconds used() const {
    clockid_t clock{};
    timespec time{};
    if (::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return {};
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }

  /// Whether something can be read, the end, too.
  [[nodiscard]] bool await(const PoolOptions& options) {
    const auto end = std::chrono::steady_clock::now() + options.real_time;
    std::optional<std::chrono::nanoseconds> before;
    while (!options.stop || !options.stop()) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
      late_ = left <= std::chrono::milliseconds::zero();
      if (late_) return false;
      pollfd waiting{.fd = fd_, .events = POLLIN, .revents = 0};
      const int ready = ::poll(&waiting, 1, static_cast<int>(std::min(left, kGlance).count()));
      if (ready < 0 && errno != EINTR) return false;
      if (ready > 0) return true;
      // Most answers are there at the first look, and cost no further call.
      if (!before) before = used();
      greedy_ = late_ = used() - *before > options.processor_time;
      if (late_) return false;
    }
    return false;
  }

  bool read_all(char* to, std::size_t size, const PoolOptions& options) {
    while (size != 0) {
      if (!await(options)) return false;
      const ssize_t got = ::read(fd_, to, size);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      to += got;
      size -= static_cast<std::size_t>(got);
    }
    return true;
  }

  /// Reads what is left, until nobody can write any more or the time is up.
  void drain() {
    char some[4096];
    const PoolOptions farewell{.real_time = kFarewell};
    while (await(farewell)) {
      const ssize_t got = ::read(fd_, some, sizeof some);
      if (got == 0 || (got < 0 && errno != EINTR)) return;
    }
  }

  int reap(int signal) {
    int status = 0;
    if (signal != 0) (void)::kill(pid_, signal);
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
    reaped_ = true;
    return status;
  }
  pid_t pid_ = -1;
  int fd_ = -1;
  bool late_ = false;
  bool greedy_ = false;  ///< late by its processor time
  bool asked_ = false;
  bool reaped_ = false;
};

/// All are asked to end before one is waited for.
struct Workers {
  ~Workers() {
    for (const auto& worker : all) {
      if (worker) worker->ask_to_end();
    }
  }
  std::vector<std::unique_ptr<Worker>> all;
};

}  // namespace

void run_in_order(std::uint64_t count, const PoolOptions& options, const Produce& produce,
                  const Consume& consume) {
  const std::uint64_t processes = std::max<std::uint64_t>(options.processes, 1);
  const std::uint64_t stride = processes * kChunk;
  Workers workers;
  for (std::uint64_t i = 0; i < processes && i * kChunk < count; ++i) {
    workers.all.push_back(std::make_unique<Worker>(i * kChunk, count, stride, produce));
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    std::unique_ptr<Worker>& worker = workers.all[i / kChunk % processes];
    if (std::optional<std::string> bytes = worker->next(options)) {
      if (!consume(i, std::move(*bytes), {})) return;
      continue;
    }
    if (options.stop && options.stop()) return;
    if (!consume(i, {}, worker->death(options))) return;
    std::uint64_t next = i + 1;
    if (next % kChunk == 0) next += stride - kChunk;
    worker.reset();  // before the other is forked, which would inherit its pipe
    worker = std::make_unique<Worker>(next, count, stride, produce);
  }
}

}  // namespace anyrdma::sim
