#include "transport/station/driver.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "transport/realtime/cancellation.h"
#include "transport/realtime/eventfd_semaphore.h"
#include "transport/realtime/scheduling_point.h"

namespace anyrdma::transport::station {
namespace {

using verbs::Instant;
using verbs::soft::PacketPtr;

/// Packets to ourselves that one leave() carries: a large transfer within one process must not keep
/// everybody else out.
constexpr int kOwnPacketsAtOnce = 1024;
/// Polls in vain after which whoever polls lets others have the processor: they may be those it
/// waits for. A peer on another processor answers sooner.
constexpr unsigned kIdlePollsMax = 96;
/// The same where each poll is a scheduling point, at which others have had their chance: a poll
/// costs the simulator a stop then. Who polls several queues, arms them and polls again before it
/// sleeps does so with fewer.
constexpr unsigned kIdlePollsMaxAtPoints = 8;
/// How long a poller is not relied upon that was seen to leave things lying: one that polls for the
/// completion of its WRITE, and then looks into its memory for the answer. Ever longer.
constexpr verbs::Duration kFirstDoubt = std::chrono::microseconds(250);
constexpr verbs::Duration kLastDoubt = std::chrono::milliseconds(4);
/// How soon a poller that has stopped is noticed: at first, and when it has polled for long.
constexpr verbs::Duration kFirstLook = std::chrono::microseconds(50);
constexpr verbs::Duration kLastLook = std::chrono::milliseconds(2);
/// A thread that polls without pause polls at least once in this time, if it has a processor.
constexpr verbs::Duration kSecondLook = std::chrono::microseconds(100);
/// Deadlines are the thread's business; that of a poller only if the thread gets no processor.
constexpr unsigned kIdlePollsPerTimer = 64;
constexpr auto kLastWords = std::chrono::milliseconds(250);

}  // namespace

verbs::Result<std::unique_ptr<verbs::Semaphore>> Driver::make_semaphore() {
  return realtime::EventfdSemaphore::create();
}

// --- the critical section -----------------------------------------------------------------------

void Driver::enter() {
  realtime::scheduling_point();
  lock_.enter();
  clock_.reset();
  ++entries_;
}

void Driver::spin() {
  ::sched_yield();
}

void Driver::leave() {
  if (driver_called()) settle();
  if (epilogue_.called()) [[unlikely]]
    return leave_with_work();
  lock_.leave();
}

void Driver::leave_with_work() {
  epilogue_.run([this] { settle(); });
  const std::function<void()> work = std::exchange(outside_, nullptr);
  lock_.leave();
  if (work) work();
}

/// The time, read once per critical section.
Instant Driver::clock() {
  if (!clock_) clock_ = realtime::monotonic_now();
  return *clock_;
}

void Driver::progress() {
  const bool at_points = realtime::scheduling_points_wanted();
  if (idle_polls_ > (at_points ? kIdlePollsMaxAtPoints : kIdlePollsMax)) yield();
  notice_polling();
  if (parts_.carrier != nullptr && parts_.carrier->glance()) {
    idle_polls_ = 0;
    settle();
  } else if (++idle_polls_ % kIdlePollsPerTimer == 0) {
    run_timers();
    settle();
  }
}

/// Before looking, not after: "nothing has arrived" would be as old as others' turns are long by
/// the time the program reads it, and its next look at something else would be newer. A program
/// that finds no completion and then a DISCONNECTED, and destroys its queue pair, would lose all
/// that came in between.
void Driver::yield() {
  yielded_.store(true, std::memory_order_relaxed);
  lock_.give_way();
  clock_.reset();
  yielded_.store(false, std::memory_order_relaxed);
}

/// Until all wait for somebody else. Whoever leaves something, or a deadline, says so.
void Driver::settle() {
  if (idle()) return;
  int budget = kOwnPacketsAtOnce;
  bool again = true;
  while (again && budget > 0) {
    const bool packets_only = called_for_packets_only();
    answer_call();
    bool worked = !packets_only && parts_.transport->drain(clock());
    worked |= take_packets();
    worked |= deliver_own(budget);
    if (parts_.carrier != nullptr) {
      parts_.carrier->transmit();
      if (parts_.carrier->has_report()) worked |= parts_.carrier->report(clock());
    }
    // A request that waits for room is tried in vain each time, and calls us each time.
    again = (worked && driver_called()) || !own_.empty();
  }
  ask_for_thread();
}

bool Driver::take_packets() {
  bool any = false;
  for (verbs::soft::Hca* const hca : parts_.hcas) {
    hca->resume();
    while (PacketPtr packet = hca->next_packet()) {
      any = true;
      if (parts_.carrier != nullptr) parts_.carrier->send(std::move(packet));
    }
  }
  return any;
}

bool Driver::deliver_own(int& budget) {
  const int before = budget;
  for (; budget > 0 && !own_.empty(); --budget) deliver(clock(), own_.pop_front());
  return budget != before;
}

// --- who takes in what arrives ------------------------------------------------------------------

void Driver::notice_polling() {
  ++polls_;
  if (awake_ || polls_ - polls_at_rest_ < kPollsUntilAwake || !thread_) return;
  polls_at_rest_ = polls_;
  if (clock() < doubted_until_) return;
  awake_ = true;
  parts_.carrier->set_awake(true);
  entries_seen_ = entries_;
  polls_seen_ = polls_;
  sure_ = false;
  look_pause_ = kFirstLook;
  look_at_ = clock() + look_pause_;
  ask_for_thread();
}

/// Whether what arrives is the poller's business because it still polls. Whoever posts a lot of
/// requests, or works, will poll again, but what arrived until then should not wait for it. Two
/// looks in short succession, because taking something in could be what it waits for.
bool Driver::still_polled() {
  if (!awake_ || clock() < look_at_) return false;
  if (entries_ == entries_seen_ && !yielded_.load(std::memory_order_relaxed)) return false;
  entries_seen_ = entries_;
  const bool polled = std::exchange(polls_seen_, polls_) != polls_;
  sure_ = !sure_;
  if (!sure_) look_pause_ = std::min(2 * look_pause_, kLastLook);
  if (!sure_ && look_pause_ == kLastLook) doubt_ = {};
  look_at_ = clock() + (sure_ ? kSecondLook : look_pause_);
  return polled;
}

void Driver::take_over() {
  if (parts_.carrier == nullptr) return;
  const bool stopped = awake_ && clock() >= look_at_;
  if (stopped) rest();
  if (!parts_.carrier->poll()) return;
  idle_polls_ = 0;
  if (!stopped) return;
  doubt_ = std::clamp(4 * doubt_, kFirstDoubt, kLastDoubt);
  doubted_until_ = clock() + doubt_;
}

/// What arrives wakes the thread again.
void Driver::rest() {
  polls_at_rest_ = polls_;
  if (!std::exchange(awake_, false) || parts_.carrier == nullptr) return;
  parts_.carrier->set_awake(false);
}

void Driver::about_to_wait() {
  const bool was_awake = awake_;
  rest();
  if (!was_awake || parts_.carrier == nullptr) return;
  (void)parts_.carrier->poll();
  settle();
}

// --- packets ------------------------------------------------------------------------------------

void Driver::on_packet(PacketPtr packet) {
  if (parts_.arrivals != nullptr) [[unlikely]]
    return parts_.arrivals->on_packet(std::move(packet));
  deliver(clock(), std::move(packet));
}

// --- time ---------------------------------------------------------------------------------------

void Driver::run_timers() {
  if (idle()) return;
  for (verbs::soft::Hca* const hca : parts_.hcas) hca->on_timer(clock());
  parts_.transport->on_timer(clock());
}

std::optional<Instant> Driver::next_deadline() {
  if (idle()) return std::nullopt;
  if (!own_.empty()) return clock();
  Instant first = awake_ ? look_at_ : Instant::max();
  for (const verbs::soft::Hca* const hca : parts_.hcas)
    first = std::min(first, hca->next_deadline().value_or(Instant::max()));
  first = std::min(first, parts_.transport->next_deadline().value_or(Instant::max()));
  if (parts_.carrier != nullptr)
    first = std::min(first, parts_.carrier->next_deadline().value_or(Instant::max()));
  if (first == Instant::max()) return std::nullopt;
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
  lock_.enter();
  clock_.reset();
  awaited_ = Instant::min();  // no thread needs to wake it now
  if (!still_polled()) {
    take_over();
    run_timers();
    settle();
  }
  // A timer that was set goes on: it rings for nothing at times, but no packet sets it anew.
  if (timer_ && *timer_ <= clock()) timer_.reset();
  if (const auto deadline = next_deadline())
    timer_ = std::min(*deadline, timer_.value_or(*deadline));
  awaited_ = timer_;
  const std::optional<Instant> deadline = timer_;
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
  lock_.after_fork_in_child();
}

}  // namespace anyrdma::transport::station
