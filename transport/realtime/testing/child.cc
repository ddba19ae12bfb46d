#include "transport/realtime/testing/child.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "verbs/assert.h"

namespace anyrdma::transport::realtime::testing {

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
