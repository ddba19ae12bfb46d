#include "transport/fabric/testing/scratch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "verbs/assert.h"

namespace anyrdma::transport::fabric::testing {

Scratch::Scratch() {
  std::string pattern = (std::filesystem::temp_directory_path() / "anyrdma-test-XXXXXX").string();
  CM_ASSERT(::mkdtemp(pattern.data()) != nullptr);
  config_.name = "test";
  config_.directory = pattern;
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(config_.directory, ignored);
}

std::string Scratch::place() const {
  return config_.directory + "/anyrdma-" + std::to_string(config_.uid);
}

std::string Scratch::file(const std::string& name) const {
  return place() + "/" + name;
}

bool Scratch::exists() const {
  return !std::filesystem::is_empty(config_.directory);
}

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

bool eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace anyrdma::transport::fabric::testing
