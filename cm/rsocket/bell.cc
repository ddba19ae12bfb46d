#include "cm/rsocket/bell.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <memory>

namespace anyrdma::rsocket {

Bell::Bell() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), process_(::getpid()) {}

Bell::~Bell() {
  if (fd_ >= 0) ::close(fd_);
}

Bell& Bell::own() {
  thread_local std::unique_ptr<Bell> bell;
  if (bell == nullptr || bell->process_ != ::getpid()) bell.reset(new Bell);
  return *bell;
}

void Bell::ring() {
  const std::uint64_t one = 1;
  // A full counter rings as well.
  [[maybe_unused]] const auto written = ::write(fd_, &one, sizeof one);
}

void Bell::hush() {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto taken = ::read(fd_, &count, sizeof count);
}

}  // namespace anyrdma::rsocket
