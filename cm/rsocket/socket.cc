#include "cm/rsocket/socket.h"

#include <fcntl.h>

#include <cerrno>

namespace anyrdma::rsocket {

Result<void> Socket::listen(int /*backlog*/) {
  return errno_code(EOPNOTSUPP);
}
Result<std::shared_ptr<Socket>> Socket::accept() {
  return errno_code(EOPNOTSUPP);
}
Result<::off_t> Socket::map(void* /*memory*/, std::size_t /*length*/, int /*protection*/,
                            int /*flags*/, ::off_t /*offset*/) {
  return errno_code(EOPNOTSUPP);
}
Result<void> Socket::unmap(void* /*memory*/, std::size_t /*length*/) {
  return errno_code(EOPNOTSUPP);
}
Result<std::size_t> Socket::write_mapped(std::span<const std::byte> /*data*/, ::off_t /*offset*/,
                                         int /*flags*/) {
  return errno_code(EOPNOTSUPP);
}

int Socket::status_flags() const {
  const std::lock_guard lock(mutex_);
  return O_RDWR | status_flags_;
}

void Socket::set_status_flags(int flags) {
  const std::lock_guard lock(mutex_);
  status_flags_ = flags & O_NONBLOCK;
}

bool Socket::may_wait(int flags) const {
  return (flags & MSG_DONTWAIT) == 0 && (status_flags_ & O_NONBLOCK) == 0;
}

}  // namespace anyrdma::rsocket
