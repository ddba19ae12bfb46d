#include "transport/realtime/eventfd_semaphore.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstdint>

#include "transport/realtime/cancellation.h"
#include "transport/realtime/prompt_call.h"
#include "verbs/assert.h"

namespace anyrdma::transport::realtime {
namespace {

/// Kernels before 5.8 do not know RWF_NOWAIT here: look first, then take.
bool take_if_readable(int fd) {
  pollfd entry{fd, POLLIN, 0};
  std::uint64_t units = 0;
  return ::poll(&entry, 1, 0) == 1 && ::read(fd, &units, sizeof units) == sizeof units;
}

}  // namespace

verbs::Result<std::unique_ptr<verbs::Semaphore>> EventfdSemaphore::create() {
  Descriptor fd(::eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC));
  if (!fd) return verbs::errno_code(errno);
  return std::unique_ptr<verbs::Semaphore>(new EventfdSemaphore(std::move(fd)));
}

void EventfdSemaphore::post() {
  const CancellationOff off;
  const int saved = errno;  // callers are C functions that may promise not to touch it
  const std::uint64_t unit = 1;
  while (prompt_write(fd_.get(), &unit, sizeof unit) < 0 && errno == EINTR) {
  }
  errno = saved;
}

bool EventfdSemaphore::try_wait() {
  const CancellationOff off;
  const int saved = errno;
  std::uint64_t units = 0;
  iovec piece{&units, sizeof units};
  ssize_t got = -1;
  do {
    got = ::preadv2(fd_.get(), &piece, 1, -1, RWF_NOWAIT);
  } while (got < 0 && errno == EINTR);
  bool taken = got == sizeof units;
  if (got < 0 && errno == EOPNOTSUPP) taken = take_if_readable(fd_.get());
  errno = saved;
  return taken;
}

verbs::Result<void> EventfdSemaphore::wait() {
  std::uint64_t units = 0;
  const ssize_t got = ::read(fd_.get(), &units, sizeof units);
  if (got < 0) return verbs::errno_code(errno);
  CM_ASSERT(got == sizeof units);
  return {};
}

}  // namespace anyrdma::transport::realtime
