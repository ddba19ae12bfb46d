#include "cm/asio/pending.h"

namespace anyrdma::cm {

boost::asio::execution_context::id PendingOperations::id;

void PendingOperations::keep(PendingOperation& operation) {
  const std::lock_guard lock(mutex_);
  kept_.push_back(operation);
}

bool PendingOperations::let_go(PendingOperation& operation) {
  const std::lock_guard lock(mutex_);
  if (!operation.PendingHook::is_linked()) return false;
  kept_.erase(kept_.iterator_to(operation));
  return true;
}

/// One at a time and without the lock: to go, an operation enters the critical section, inside of
/// which others are called and let go.
void PendingOperations::shutdown() {
  for (;;) {
    PendingOperation* operation = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (kept_.empty()) return;
      operation = &kept_.front();
      kept_.pop_front();
    }
    operation->destroy();
  }
}

}  // namespace anyrdma::cm
