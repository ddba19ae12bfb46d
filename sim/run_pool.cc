#include "sim/run_pool.h"

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

bool write_all(int fd, const char* bytes, std::size_t size) {
  while (size != 0) {
    const ssize_t written = ::write(fd, bytes, size);
    if (written < 0 && errno == EINTR) continue;
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
      work(ends[1], from, count, stride, produce);
    }
    ::close(ends[1]);
    fd_ = ends[0];
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    ::close(fd_);
    if (!reaped_) (void)end();
  }

  /// The next record; none when the process died before it was complete or took too long.
  [[nodiscard]] std::optional<std::string> next(std::chrono::milliseconds patience) {
    std::uint64_t size = 0;
    if (!read_all(reinterpret_cast<char*>(&size), sizeof size, patience)) return std::nullopt;
    std::string bytes(size, '\0');
    if (!read_all(bytes.data(), size, patience)) return std::nullopt;
    return bytes;
  }

  /// Why there is no record.
  [[nodiscard]] std::string death() {
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
    for (std::uint64_t i = from; i < count;) {
      const std::string bytes = produce(i);
      const std::uint64_t size = bytes.size();
      if (!write_all(fd, reinterpret_cast<const char*>(&size), sizeof size)) break;
      if (!write_all(fd, bytes.data(), bytes.size())) break;
      ++i;
      if (i % kChunk == 0) i += stride - kChunk;
    }
    std::fflush(nullptr);
    ::_exit(0);
  }

  bool read_all(char* to, std::size_t size, std::chrono::milliseconds patience) {
    while (size != 0) {
      pollfd waiting{.fd = fd_, .events = POLLIN, .revents = 0};
      const int ready = ::poll(&waiting, 1, static_cast<int>(patience.count()));
      if (ready < 0 && errno == EINTR) continue;
      late_ = ready == 0;
      if (ready <= 0) return false;
      const ssize_t got = ::read(fd_, to, size);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      to += got;
      size -= static_cast<std::size_t>(got);
    }
    return true;
  }

  int reap(int signal) {
    int status = 0;
    if (signal != 0) (void)::kill(pid_, signal);
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
    reaped_ = true;
    return status;
  }
  int end() { return reap(SIGKILL); }

  pid_t pid_ = -1;
  int fd_ = -1;
  bool late_ = false;
  bool reaped_ = false;
};

}  // namespace

void run_in_order(std::uint64_t count, const PoolOptions& options, const Produce& produce,
                  const Consume& consume) {
  const std::uint64_t processes = std::max<std::uint64_t>(options.processes, 1);
  const std::uint64_t stride = processes * kChunk;
  std::vector<std::unique_ptr<Worker>> workers;
  for (std::uint64_t i = 0; i < processes && i * kChunk < count; ++i) {
    workers.push_back(std::make_unique<Worker>(i * kChunk, count, stride, produce));
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    std::unique_ptr<Worker>& worker = workers[i / kChunk % processes];
    if (std::optional<std::string> bytes = worker->next(options.patience)) {
      if (!consume(i, std::move(*bytes), {})) return;
      continue;
    }
    if (!consume(i, {}, worker->death())) return;
    std::uint64_t next = i + 1;
    if (next % kChunk == 0) next += stride - kChunk;
    worker.reset();  // before the other is forked, which would inherit its pipe
    worker = std::make_unique<Worker>(next, count, stride, produce);
  }
}

}  // namespace anyrdma::sim
