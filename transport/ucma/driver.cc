#include "transport/ucma/driver.h"

#include <utility>

#include "transport/realtime/cancellation.h"
#include "transport/realtime/eventfd_semaphore.h"

namespace anyrdma::transport::ucma {

verbs::Result<std::unique_ptr<verbs::Semaphore>> Driver::make_semaphore() {
  return realtime::EventfdSemaphore::create();
}

void Driver::leave() {
  catch_up();
  epilogue_.run([this] { catch_up(); });
  lock_.leave();
}

void Driver::catch_up() {
  if (!driver_called()) return;
  answer_call();
  if (source_ != nullptr) source_->catch_up();
}

std::optional<verbs::Instant> Driver::on_wakeup() {
  const verbs::CriticalSection section(*this);
  if (source_ != nullptr) source_->take_events();
  return std::nullopt;
}

verbs::Result<void> Driver::start(Source& source, int fd) {
  source_ = &source;
  auto thread = realtime::ProgressThread::start(fd, *this);
  if (!thread) {
    source_ = nullptr;
    return thread.error();
  }
  const verbs::CriticalSection section(*this);
  thread_ = std::move(*thread);
  return {};
}

void Driver::stop() {
  const realtime::CancellationOff off;
  std::unique_ptr<realtime::ProgressThread> thread;
  {
    const verbs::CriticalSection section(*this);
    thread = std::move(thread_);
    source_ = nullptr;
  }
  thread.reset();  // it may be waiting to enter
}

void Driver::after_fork_in_child() {
  source_ = nullptr;
  (void)thread_.release();  // it was not copied, and Asio's state may be in the middle of something
  lock_.after_fork_in_child();
}

}  // namespace anyrdma::transport::ucma
