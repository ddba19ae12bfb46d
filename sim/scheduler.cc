#include "sim/scheduler.h"

#include <algorithm>

#include "sim/text.h"
#include "verbs/assert.h"

namespace anyrdma::sim {
namespace {

constexpr Duration kEmptyPoll = std::chrono::microseconds(1);
constexpr std::uint64_t kEmptyPollsMax = 100'000'000;  // 100 s of virtual time

}  // namespace

void Scheduler::settle() {
  while (!unsettled_.empty()) {
    Settler& settler = unsettled_.front();
    unsettled_.pop_front();
    settler.settle();
  }
}

bool Scheduler::step(Instant limit) {
  if (fibers_.run_one()) return true;
  settle();
  const std::optional<Instant> next = queue_.next_deadline();
  if (!next) {
    if (pollers_.empty() || now_ + kEmptyPoll > limit) return false;
    skip_empty_poll();
  } else {
    if (*next > limit) return false;
    now_ = *next;
    ++events_;
    empty_polls_ = 0;
    queue_.next_expired(now_)->tag()->run();
  }
  while (!pollers_.empty()) fibers_.wake(pollers_.front());
  return true;
}

void Scheduler::skip_to(Instant time) {
  settle();
  CM_ASSERT(!queue_.next_deadline() || *queue_.next_deadline() >= time);
  now_ = std::max(now_, time);
}

void Scheduler::skip_empty_poll() {
  CM_ASSERT(++empty_polls_ < kEmptyPollsMax);  // a program polls for what can never happen
  now_ += kEmptyPoll;
}

void Scheduler::poll() {
  if (fibers_.current() != nullptr) {
    (void)fibers_.park(pollers_, "something to happen (it polls)", now_);
  } else if (!step()) {
    skip_empty_poll();
  }
}

void Scheduler::note_refusal(const char* purpose, const std::string& details) {
  refusal_ = std::string("outside of all fibers, somebody waited in vain for ") + purpose + " at " +
             seconds_text(now_.time_since_epoch()) + " s\n" + details;
}

/// Wakes a fiber.
class Scheduler::Alarm final : public Task {
 public:
  Alarm(Fibers& fibers, FiberList& sleeper) : fibers_(fibers), sleeper_(sleeper) {}

 private:
  void run() override { fibers_.wake(sleeper_.front()); }

  Fibers& fibers_;
  FiberList& sleeper_;
};

bool Scheduler::idle_until(Instant time) {
  if (fibers_.current() == nullptr) {
    while (step(time)) continue;
    skip_to(time);
    return true;
  }
  FiberList sleeper;
  Alarm alarm(fibers_, sleeper);
  at(alarm, time);
  const bool woken = fibers_.park(sleeper, "time to pass", now_);
  cancel(alarm);
  return woken;
}

}  // namespace anyrdma::sim
