// How the turn goes from thread to thread: until when one may go on by itself, and who can go on
// after it.
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "sim/programs/kernel/clocks.h"
#include "sim/programs/kernel/job_control.h"
#include "sim/programs/process/process.h"
#include "sim/programs/process/signal_state.h"
#include "sim/programs/supervisor/sandbox.h"

namespace anyrdma::sim::programs {

// --- what is shared -----------------------------------------------------------------------------

/// A thread that reads its clock is ahead of the world, where nothing happens meanwhile: it has the
/// turn, and stops before anything would be due. Who reads it over and over is to let others go on
/// at times.
void Sandbox::open_pages(TracedThread& thread) {
  constexpr std::int64_t kReadingsMax = 16;
  if (reader_ == &thread) return;
  close_pages();
  reader_ = &thread;
  const Process& process = thread.process();
  if (process.clock == nullptr) return;
  const std::uint64_t points = points_to_pass(thread);
  const Duration cost = thread.idleness().cost_of_reading();
  const Instant quiet_until = world_.scheduler().quiet_until();
  std::int64_t readings = process.host->drifts() ? 0 : kReadingsMax;
  if (cost > Duration::zero() && quiet_until != Scheduler::kNever)
    readings = std::clamp<std::int64_t>((quiet_until - world_.now()) / cost, 0, kReadingsMax);
  cost_of_reading_ = cost;
  process.clock->open({.up = *reading_of(thread, CLOCK_MONOTONIC),
                       .date = *reading_of(thread, CLOCK_REALTIME),
                       .cost = cost,
                       .readings = static_cast<std::uint64_t>(readings),
                       .points = points});
}

/// How many scheduling points the thread would only stop at: as long as it makes no system call,
/// sends nothing and records nothing, nothing changes that the schedule chooses from.
std::uint64_t Sandbox::points_to_pass(const TracedThread& thread) {
  constexpr std::uint64_t kMost = 64;
  Scheduler& scheduler = world_.scheduler();
  // A choice between the end of its last turn and this one was for the thread itself.
  const bool settled = std::exchange(settled_, false) && scheduler.steps() - settled_at_ <= 1;
  if (!settled || signals_expected_ || thread.owes_for_calls() || options_.on_call ||
      options_.debugger != nullptr)
    return 0;  // these count calls
  return scheduler.points_to_pass(kMost);
}

void Sandbox::close_pages() {
  TracedThread* const reader = std::exchange(reader_, nullptr);
  if (reader == nullptr) return;
  const Process& process = reader->process();
  if (process.entries != nullptr && !process.entries->tell(*process.host, process.full_name)) {
    remark(
        process.name +
        " has overwritten the memory that it shares with its host: what it does with RDMA is not "
        "recorded or checked any more");
  }
  if (process.clock == nullptr) return;
  const auto [readings, own, points] = process.clock->close();
  world_.scheduler().pass_points(points);
  if (readings == 0) return;
  reader->idleness().note_readings(static_cast<unsigned>(readings - own));
  Scheduler& scheduler = world_.scheduler();
  const Instant read = scheduler.now() + cost_of_reading_ * static_cast<std::int64_t>(readings);
  // Somebody may have been killed meanwhile, which leaves something to be done.
  scheduler.skip_to(std::min(read, std::max(scheduler.quiet_until(), scheduler.now())));
}

// --- by one instruction -------------------------------------------------------------------------

tracee::Stop Sandbox::step(TracedThread& thread) {
  open_pages(thread);
  if (options_.debugger != nullptr) return options_.debugger->step(thread);
  tracee::Stop stop;
  // If somebody has looked after it once more, its step is still to be reported.
  do {
    thread.tracee().step();
    stop = await(thread);
  } while (stop.kind == tracee::StopKind::kStarted);
  return stop;
}

// --- who can go on ------------------------------------------------------------------------------

void Sandbox::end_turn() {
  close_pages();
  settled_ = true;
  settled_at_ = world_.scheduler().steps();
  const bool hung_up = kernel_.terminals.note_hangups();
  if (std::exchange(signals_expected_, false) || hung_up) interrupt_waits();
  sockets_.pump();
  // What programs write has been seen. What the drop-in says by prompt calls shows only in what is
  // ready now.
  bool anything = false;
  if (std::exchange(deeds_seen_, deeds_) != deeds_) {
    for (TracedThread* const thread : blocked_) thread->on_deed();
    read_output();
    pump_.run();
  } else if (poll_all(pump_.descriptors)) {
    pump_.run();
    anything = true;
  } else {
    if (wake_ready()) note_time_of_deed();
    return;
  }
  (void)poll_all({});
  if (wake_ready() || anything) note_time_of_deed();
}

void Sandbox::look() {
  (void)poll_all({});
  (void)wake_ready();
}

/// Asks the kernel in one call about all that threads wait for, and about `more`: whether something
/// of that is readable.
bool Sandbox::poll_all(std::span<const int> more) {
  polled_.clear();
  for (const TracedThread* const thread : watchers_) {
    if (!thread->looks_out()) continue;
    for (const Watched& each : thread->watched())
      polled_.push_back({.fd = each.descriptor.get(), .events = each.events, .revents = 0});
  }
  const auto of_threads = static_cast<std::ptrdiff_t>(polled_.size());
  for (const int fd : more) polled_.push_back({.fd = fd, .events = POLLIN, .revents = 0});
  if (polled_.empty()) return false;
  // Our own alarm comes in between now and then.
  while (::poll(polled_.data(), polled_.size(), 0) < 0 && errno == EINTR) continue;
  return std::any_of(polled_.begin() + of_threads, polled_.end(),
                     [](const pollfd& each) { return each.revents != 0; });
}

/// By what was found. Whether anybody was.
bool Sandbox::wake_ready() {
  bool any = false;
  auto next = polled_.cbegin();
  // Whoever is woken leaves the list once it runs.
  for (TracedThread* const thread : watchers_) {
    if (!thread->looks_out()) continue;
    bool ready = false;
    for (const Watched& each : thread->watched()) ready |= is_ready(each, *next++);
    if (ready) thread->on_ready();
    any |= ready;
  }
  return wake_openers() || any;
}

/// Those that wait to open named pipes whose other end is there.
bool Sandbox::wake_openers() {
  bool any = false;
  for (TracedThread* const thread : openers_) {
    if (!thread->looks_out() || !thread->finish_opening()) continue;
    thread->on_ready();
    any = true;
  }
  return any;
}

void Sandbox::interrupt_waits() {
  (void)wake_openers();  // a signal that comes after the other end does not end the wait
  for (const auto& process : processes_) {
    if (process->status) continue;
    (void)continue_if_told(*process);
    for (const auto& thread : process->threads) {
      if (thread->is_stopped()) continue;  // its signals wait, too
      TracedThread& one = traced(*thread);
      const bool looks = !one.is_over() && one.looks_out();
      if (looks && has_signal_to_read(one, one.watched())) one.on_ready();
      if (!thread->is_over() && thread->waits() && takes_signal(*thread, thread->mask())) {
        thread->wake(Woken::kSignal);
        break;
      }
    }
  }
}

}  // namespace anyrdma::sim::programs
