#include "sim/explore/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <utility>

#include "verbs/assert.h"

namespace anyrdma::sim {
namespace {

/// How long a call may still take when its result is not wanted any more.
constexpr std::chrono::milliseconds kFarewell = std::chrono::seconds(2);
/// So much a socket takes at once whatever its other end does.
constexpr std::size_t kUnreadMax = std::size_t{32} << 10;
/// Calls that take less are not watched.
constexpr std::chrono::milliseconds kPatienceLeast = std::chrono::milliseconds(20);
/// Of calls that take no millisecond, so many wait at their process.
constexpr std::size_t kQuickCallsMax = 16;
constexpr std::size_t kCallsMax = 2;

/// Of this process, which works for another.
volatile std::sig_atomic_t leaving = 0;

void leave(int /*signal*/) {
  leaving = 1;
}

/// So that a process that is told to end does so between two calls.
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

bool send_all(int fd, const void* from, std::size_t size) {
  const char* bytes = static_cast<const char*>(from);
  while (size != 0) {
    const ssize_t sent = ::send(fd, bytes, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR && leaving == 0) continue;
    if (sent <= 0) return false;
    bytes += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int fd, void* to, std::size_t size) {
  char* bytes = static_cast<char*>(to);
  while (size != 0) {
    const ssize_t got = ::recv(fd, bytes, size, 0);
    if (got < 0 && errno == EINTR && leaving == 0) continue;
    if (got <= 0) return false;
    bytes += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

struct CallHead {
  std::uint64_t number = 0;
  std::uint64_t size = 0;
};

}  // namespace

Worker::Worker(const Produce& produce) {
  int ends[2];
  CM_ASSERT(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  CM_ASSERT(pid_ >= 0);
  if (pid_ == 0) {
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    ::close(ends[0]);
    heed_signals();
    step_back();
    work(ends[1], produce);
  }
  ::close(ends[1]);
  fd_ = ends[0];
}

Worker::~Worker() {
  if (!reaped_ && asked_) drain();
  ::close(fd_);
  if (!reaped_) (void)reap(SIGKILL);
}

void Worker::work(int fd, const Produce& produce) {
  CallHead head;
  while (leaving == 0 && receive_all(fd, &head, sizeof head)) {
    std::string request(head.size, '\0');
    if (!receive_all(fd, request.data(), request.size())) break;
    const std::string bytes = produce(head.number, request);
    const std::uint64_t size = bytes.size();
    if (!send_all(fd, &size, sizeof size) || !send_all(fd, bytes.data(), bytes.size())) break;
  }
  std::fflush(nullptr);
  ::_exit(leaving == 0 ? 0 : 128 + SIGTERM);
}

bool Worker::has_room(std::size_t bytes) const {
  if (calls_.empty()) return true;
  return calls_.size() < (quick_ ? kQuickCallsMax : kCallsMax) &&
         bytes_given_ + sizeof(CallHead) + bytes <= kUnreadMax;
}

void Worker::give(Call call) {
  if (calls_.empty()) began_ = Clock::now();
  const CallHead head{.number = call.number, .size = call.request.size()};
  bytes_given_ += sizeof head + call.request.size();
  // Of a process that has ended, read_some() tells.
  if (send_all(fd_, &head, sizeof head))
    (void)send_all(fd_, call.request.data(), call.request.size());
  calls_.push_back(std::move(call));
}

bool Worker::read_some() {
  char some[1 << 16];
  const ssize_t got = ::recv(fd_, some, sizeof some, MSG_DONTWAIT);
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  read_.append(some, static_cast<std::size_t>(got));
  return got != 0;
}

std::optional<std::string> Worker::next_result() {
  std::uint64_t size = 0;
  if (read_.size() < sizeof size) return std::nullopt;
  std::memcpy(&size, read_.data(), sizeof size);
  if (read_.size() - sizeof size < size) return std::nullopt;
  std::string bytes = read_.substr(sizeof size, size);
  read_.erase(0, sizeof size + size);
  CM_ASSERT(!calls_.empty());
  bytes_given_ -= sizeof(CallHead) + calls_.front().request.size();
  calls_.pop_front();
  const auto now = Clock::now();
  quick_ = now - began_ < std::chrono::milliseconds(1);
  began_ = now;
  used_before_.reset();
  return bytes;
}

bool Worker::overdue(const PoolOptions& options) {
  if (calls_.empty() || late_) return late_;
  const auto since = Clock::now() - began_;
  if (since < kPatienceLeast) return false;  // most calls end before, and cost nothing further
  late_ = since > options.real_time;
  if (!used_before_) used_before_ = used();
  greedy_ = !late_ && used() - *used_before_ > options.processor_time;
  late_ |= greedy_;
  if (late_) (void)reap(SIGKILL);
  return late_;
}

std::string Worker::death(const PoolOptions& options) {
  if (greedy_) {
    const auto spent = std::chrono::duration<double>(options.processor_time).count();
    char text[96];
    std::snprintf(text, sizeof text, "the run did not end: it computed for %g s, and was killed",
                  spent);
    return text;
  }
  if (late_) return "the run did not end, and was killed";
  const int status = reap(0);
  if (WIFSIGNALED(status))
    return std::string("the process died of signal ") + strsignal(WTERMSIG(status));
  return "the process exited with status " + std::to_string(WEXITSTATUS(status));
}

void Worker::ask_to_end() {
  if (reaped_) return;
  asked_ = ::kill(pid_, SIGTERM) == 0;
  (void)::shutdown(fd_, SHUT_WR);
}

std::chrono::nanoseconds Worker::used() const {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return {};
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// Reads what is left, until nobody can write any more or the time is up.
void Worker::drain() {
  const auto end = Clock::now() + kFarewell;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd waiting{.fd = fd_, .events = POLLIN, .revents = 0};
    if (left <= 0 || ::poll(&waiting, 1, static_cast<int>(left)) == 0) return;
    if (!read_some()) return;
  }
}

int Worker::reap(int signal) {
  int status = 0;
  if (signal != 0) (void)::kill(pid_, signal);
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
  reaped_ = true;
  return status;
}

}  // namespace anyrdma::sim
