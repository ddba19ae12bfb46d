#include "transport/fabric/driver.h"

#include <sched.h>

#include <chrono>
#include <utility>

#include "transport/realtime/cancellation.h"
#include "transport/realtime/eventfd_semaphore.h"

namespace anyrdma::transport::fabric {
namespace {

using verbs::Instant;
using verbs::soft::PacketPtr;

/// Packets to ourselves that one leave() carries: a large transfer within one process must not keep
/// everybody else out.
constexpr int kOwnPacketsAtOnce = 1024;
/// Polls in vain after which whoever polls lets others have the processor: they may be those it
/// waits for. A peer on another processor answers sooner.
constexpr unsigned kIdlePollsMax = 32;
constexpr auto kLastWords = std::chrono::milliseconds(250);

}  // namespace

verbs::Result<std::unique_ptr<verbs::Semaphore>> Driver::make_semaphore() {
  return realtime::EventfdSemaphore::create();
}

// --- the critical section -----------------------------------------------------------------------

void Driver::enter() {
  lock_.enter();
}

void Driver::leave() {
  settle();
  ask_for_thread();
  const bool yield = std::exchange(yield_, false);
  lock_.leave();
  if (yield) ::sched_yield();
}

void Driver::progress() {
  advance();
  yield_ = ++idle_polls_ > kIdlePollsMax;
}

void Driver::advance() {
  if (parts_.carrier != nullptr && parts_.carrier->poll()) idle_polls_ = 0;
  run_timers();
  settle();
}

/// Carries everything to where it belongs, until all wait for somebody else.
void Driver::settle() {
  if (parts_.hca == nullptr || parts_.transport == nullptr) return;
  int budget = kOwnPacketsAtOnce;
  while (budget > 0) {
    const Instant now = realtime::monotonic_now();
    bool worked = parts_.transport->drain(now);
    worked |= take_packets();
    worked |= deliver_own(now, budget);
    if (parts_.carrier != nullptr) {
      parts_.carrier->transmit();
      worked |= parts_.carrier->report(now);
    }
    if (!worked) return;
  }
}

bool Driver::take_packets() {
  bool any = false;
  while (PacketPtr packet = parts_.hca->next_packet()) {
    any = true;
    if (parts_.carrier != nullptr) parts_.carrier->send(std::move(packet));
  }
  return any;
}

bool Driver::deliver_own(Instant now, int& budget) {
  bool any = false;
  for (; budget > 0 && !own_.empty(); --budget) {
    parts_.hca->on_packet(now, own_.pop_front());
    any = true;
  }
  return any;
}

// --- packets ------------------------------------------------------------------------------------

void Driver::on_packet(PacketPtr packet) {
  parts_.hca->on_packet(realtime::monotonic_now(), std::move(packet));
}

// --- time ---------------------------------------------------------------------------------------

void Driver::run_timers() {
  if (parts_.hca == nullptr || parts_.transport == nullptr) return;
  const Instant now = realtime::monotonic_now();
  parts_.hca->on_timer(now);
  parts_.transport->on_timer(now);
}

std::optional<Instant> Driver::next_deadline() {
  if (parts_.hca == nullptr || parts_.transport == nullptr) return std::nullopt;
  if (!own_.empty()) return realtime::monotonic_now();
  std::optional<Instant> first =
      verbs::earlier(parts_.hca->next_deadline(), parts_.transport->next_deadline());
  if (parts_.carrier != nullptr) first = verbs::earlier(first, parts_.carrier->next_deadline());
  return first;
}

/// The thread sleeps until what was awaited when it went to sleep. It need not know of later
/// deadlines: it finds them when it wakes up. So a busy connection, whose deadline moves with every
/// packet, wakes it once per timeout and not once per packet.
void Driver::ask_for_thread() {
  const std::optional<Instant> deadline = next_deadline();
  if (!thread_ || !deadline || (awaited_ && *awaited_ <= *deadline)) return;
  awaited_ = deadline;
  thread_->wake();
}

std::optional<Instant> Driver::on_wakeup() {
  enter();
  advance();
  awaited_ = next_deadline();
  const std::optional<Instant> deadline = awaited_;
  leave();
  return deadline;
}

// --- life ---------------------------------------------------------------------------------------

verbs::Result<void> Driver::start() {
  auto thread = realtime::ProgressThread::start(parts_.carrier->fd(), *this);
  if (!thread) return thread.error();
  const verbs::CriticalSection section(*this);
  thread_ = std::move(*thread);
  return {};
}

void Driver::retire() {
  std::unique_ptr<realtime::ProgressThread> thread;
  {
    const realtime::CancellationOff off;
    enter();
    settle();
    if (parts_.carrier != nullptr) parts_.carrier->flush(kLastWords);
    thread = std::move(thread_);
    leave();
    thread.reset();  // while its descriptor is still open
  }
  const verbs::CriticalSection section(*this);
  if (parts_.carrier == nullptr) return;
  parts_.carrier->close();
  own_.clear();
  parts_.carrier = nullptr;
}

void Driver::detach() {
  const verbs::CriticalSection section(*this);
  parts_ = {};
  own_.clear();
}

void Driver::after_fork_in_child() {
  if (parts_.carrier != nullptr) parts_.carrier->abandon();
  parts_.carrier = nullptr;
  (void)thread_.release();  // it was not copied, and Asio's state may be in the middle of something
  lock_.after_fork();
}

}  // namespace anyrdma::transport::fabric
