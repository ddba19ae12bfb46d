#include "transport/realtime/testing/child.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "transport/realtime/testing/eventually.h"
#include "verbs/assert.h"

namespace anyrdma::transport::realtime::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kAllocatorForks = false;
#elif defined(__has_feature)
constexpr bool kAllocatorForks = !__has_feature(address_sanitizer);
#else
constexpr bool kAllocatorForks = true;
#endif

/// Whether a thread waits in the kernel, or is gone: proc_pid_stat(5), behind the name in brackets.
bool sleeps(const std::filesystem::path& task) {
  std::ifstream file(task / "stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(") ");
  return name_end == std::string::npos || line.substr(name_end + 2, 1) == "S";
}

/// AddressSanitizer's allocator (of LLVM 14) lets a thread's lock go along into a child, which then
/// waits for it for ever. Glibc's does not. Who sleeps holds none.
void let_others_fall_asleep() {
  const auto quiet = [me = std::to_string(::gettid())] {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return std::all_of(begin(tasks), end(tasks), [&me](const auto& task) {
      return task.path().filename() == me || sleeps(task.path());
    });
  };
  CM_ASSERT(eventually(quiet));
}

}  // namespace

void Child::Line::send(char byte) const {
  CM_ASSERT(::write(out_, &byte, 1) == 1);
}

char Child::Line::receive() const {
  char byte = 0;
  return ::read(in_, &byte, 1) == 1 ? byte : '\0';
}

Child::Child(const std::function<int(const Line&)>& body) {
  int down[2];
  int up[2];
  CM_ASSERT(::pipe2(down, O_CLOEXEC) == 0);
  CM_ASSERT(::pipe2(up, O_CLOEXEC) == 0);
  if (!kAllocatorForks) let_others_fall_asleep();
  pid_ = ::fork();
  CM_ASSERT(pid_ >= 0);
  if (pid_ == 0) {
    ::close(down[1]);
    ::close(up[0]);
    ::_exit(body(Line(down[0], up[1])));
  }
  ::close(down[0]);
  ::close(up[1]);
  to_ = down[1];
  from_ = up[0];
  line_ = Line(from_, to_);
}

Child::~Child() {
  kill();
  ::close(to_);
  ::close(from_);
}

void Child::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  wait();
}

void Child::stop() {
  CM_ASSERT(::kill(pid_, SIGSTOP) == 0);
  CM_ASSERT(has_stopped());
}

void Child::go_on() {
  CM_ASSERT(::kill(pid_, SIGCONT) == 0);
}

bool Child::has_stopped() const {
  int status = 0;
  while (::waitpid(pid_, &status, WUNTRACED) < 0) CM_ASSERT(errno == EINTR);
  return WIFSTOPPED(status);
}

int Child::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0) CM_ASSERT(errno == EINTR);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace anyrdma::transport::realtime::testing
