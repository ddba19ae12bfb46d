#include "sim/schedule/semaphore.h"

#include <cerrno>

namespace anyrdma::sim {

void Semaphore::post() {
  scheduler_.check_thread();
  if (waiters_.empty()) {
    ++units_;
  } else {
    scheduler_.fibers().wake(waiters_.front());  // who gets the unit without it being counted
  }
}

bool Semaphore::try_wait() {
  scheduler_.check_thread();
  if (units_ == 0) return false;
  --units_;
  return true;
}

verbs::Result<void> Semaphore::wait() {
  if (try_wait()) return {};
  Fibers& fibers = scheduler_.fibers();
  if (fibers.current() != nullptr) {
    if (fibers.park(waiters_, purpose_, scheduler_.now(), &details_)) return {};
    return verbs::errno_code(EDEADLK);
  }
  bool goes_on = true;
  while (units_ == 0 && goes_on) goes_on = !fibers.closed() && scheduler_.step();
  if (try_wait()) return {};
  if (details_) scheduler_.note_refusal(purpose_, details_());
  return verbs::errno_code(EDEADLK);
}

}  // namespace anyrdma::sim
