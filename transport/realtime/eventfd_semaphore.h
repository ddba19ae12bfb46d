// The semaphore of real-time transports: an eventfd, because applications poll the descriptor, set
// it non-blocking, and block in it.
#pragma once

#include <memory>

#include "transport/realtime/descriptor.h"
#include "verbs/runtime.h"

namespace anyrdma::transport::realtime {

/// A semaphore on an eventfd. wait() calls read(2): it honours O_NONBLOCK if the application has
/// set it, and ends with EINTR on signals. It is a thread cancellation point, at which no lock is
/// held.
class EventfdSemaphore final : public verbs::Semaphore {
 public:
  /// Creates a semaphore. Errors: EMFILE, ENFILE, ENOMEM.
  [[nodiscard]] static verbs::Result<std::unique_ptr<verbs::Semaphore>> create();

  void post() override;
  bool try_wait() override;
  [[nodiscard]] verbs::Result<void> wait() override;
  int fd() const override { return fd_.get(); }

 private:
  explicit EventfdSemaphore(Descriptor fd) : fd_(std::move(fd)) {}

  Descriptor fd_;
};

}  // namespace anyrdma::transport::realtime
