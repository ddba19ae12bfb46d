// The semaphore of real time: an eventfd, because applications poll the descriptor, set it
// non-blocking and block in it (spec/abi.md, 8).
#pragma once

#include <memory>

#include "transport/realtime/descriptor.h"
#include "verbs/runtime.h"

namespace anyrdma::transport::realtime {

/// wait() is read(2): it honours the O_NONBLOCK that an application may have set, ends with EINTR
/// on signals, and is a thread cancellation point at which no lock is held.
class EventfdSemaphore final : public verbs::Semaphore {
 public:
  /// EMFILE, ENFILE, ENOMEM.
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
