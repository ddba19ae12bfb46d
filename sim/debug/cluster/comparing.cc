// Watchpoints where the processor's debug registers do not work. Threads run at full speed; the
// value of watched memory is compared where a thread goes on and where it stops, at a system call,
// a signal or a breakpoint. A new run steps through the interval in which the value changed, and
// so finds the instruction.
#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "sim/debug/cluster/cluster.h"
#include "sim/programs/process/process.h"
#include "sim/programs/process/thread.h"
#include "sim/tracee/debug_registers.h"

namespace anyrdma::sim::debug {

using tracee::StopKind;

namespace {

/// Whether a position names where the thread has stopped so.
bool ends_interval(StopKind kind) {
  return kind == StopKind::kCall || kind == StopKind::kSignal;
}

}  // namespace

bool Cluster::compares() const {
  return watching_ == Watching::kComparing || !tracee::debug_registers_work();
}

/// Says once how values are watched, and what cannot be.
bool Cluster::refuses(const Point& point) {
  if (!compares()) return false;
  if (point.kind != Point::Kind::kWrite) {
    news_ +=
        "anyrdma: awatch is refused: it needs the processor's debug registers, which do not work "
        "on this machine. Delete the watchpoint, or use watch.\n";
    return true;
  }
  if (!std::exchange(has_said_how_, true)) {
    news_ +=
        "anyrdma: the processor's debug registers do not work on this machine. Watched memory is "
        "compared at each system call, signal and breakpoint of a thread: a value that changes and "
        "changes back in between is not seen.\n";
  }
  return false;
}

Cluster::Values Cluster::values_of(Known& it) {
  Values values;
  for (const Point& point : wanted(*it.process).memory) {
    std::string value(point.size, '\0');
    if (it.thread->tracee().read_any(point.address,
                                     std::as_writable_bytes(std::span(value.data(), value.size()))))
      values.emplace(point, std::move(value));
  }
  return values;
}

void Cluster::begin_interval(Known& it) {
  if (alone_ || wanted(*it.process).memory.empty() || !compares()) {
    it.before.clear();
    it.left.reset();
    return;
  }
  Values now = values_of(it);
  if (const auto left = std::exchange(it.left, std::nullopt)) {
    // Other threads may have written meanwhile: that is no change of this thread.
    for (const auto& [point, value] : *left) {
      const auto before = it.before.find(point);
      if (before != it.before.end() && before->second != value) now[point] = before->second;
    }
  }
  it.before = std::move(now);
}

/// `is_noted`: a step is part of the thread's position.
void Cluster::end_interval(Known& it, Event& event, bool is_noted) {
  if (alone_ || wanted(*it.process).memory.empty() || !compares()) return;
  const bool within = event.interrupted || (event.stepped && !is_noted) || event.lifted ||
                      (event.stop ? !ends_interval(event.stop->kind)
                                  : !event.stepped && !event.at && !event.watched);
  Values now = values_of(it);
  if (within) {
    it.left = std::move(now);
    return;
  }
  // Memory that was not there yet counts as zeros.
  const auto other = std::ranges::find_if(now, [&](const auto& each) {
    const auto before = it.before.find(each.first);
    return each.second !=
           (before != it.before.end() ? before->second : std::string(each.second.size(), '\0'));
  });
  if (other == now.end()) return;
  // One step is exact.
  (event.stepped ? event.watched : event.between) = other->first;
}

/// Watched memory has changed since `start`, on the thread's way to where it has stopped now. True:
/// the programs do not go on from here.
bool Cluster::take_change(const Known& it, const Position& start, const Event& event) {
  if (goal_ == Goal::kCount || goal_ == Goal::kSeek) {
    if (++hits_ != sought_ || goal_ != Goal::kSeek) return false;
    find_change(start, event, false);
    return true;
  }
  if (goal_ != Goal::kLive || detached_.contains(it.process->number)) return false;
  if (!has_written_ && !has_left_path_) {
    find_change(start, event, true);
    return true;
  }
  news_ +=
      "anyrdma: the value has changed somewhere after the thread's last system call. The "
      "instruction is not looked for, since you have changed the run: a new run would be another "
      "one.\n";
  (void)serve({.why = Stopped::Why::kWatchpoint,
               .thread = it.position.thread,
               .address = event.between->address,
               .watch = event.between->kind});
  return ends_run();
}

void Cluster::find_change(const Position& start, const Event& event, bool first) {
  way_ = start;
  watch_ = *event.between;
  find_until_ = event.at;
  finds_first_ = first;
  found_ = 0;
  run_again(Goal::kFind);
}

/// Of the thread that is stepped through the interval. True: it is found, or is not there.
bool Cluster::look_for_change(const Known& it, const Event& event) {
  if (event.stepped) ++measured_;
  if (event.watched) {
    watch_ = *event.watched;
    found_ = measured_;
    if (finds_first_) {
      measuring_ = false;
      goal_ = Goal::kLive;
      (void)serve({.why = Stopped::Why::kWatchpoint,
                   .thread = it.position.thread,
                   .address = watch_.address,
                   .watch = watch_.kind});
      return true;
    }
  }
  const auto registers = it.thread->tracee().registers();
  const bool at = find_until_ && registers && registers->rip == *find_until_;
  if (!at && measured_ < kStepsMax) return false;
  finish_find();
  return true;
}

/// The interval is over. Backwards, memory changes when the instruction that wrote it is undone. If
/// no instruction has changed it, the interval's beginning is all that is known.
void Cluster::finish_find() {
  if (found_ > 1) way_.moves.emplace_back(Steps{found_ - 1});
  reports_watch_ = true;
  run_again(Goal::kArrive);
}

}  // namespace anyrdma::sim::debug
