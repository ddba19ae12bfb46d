// How the debugger comes to another moment: the trial is run once more, and stops there.
#include <csignal>
#include <utility>

#include "sim/debug/cluster/cluster.h"
#include "sim/programs/process/thread.h"
#include "sim/programs/supervisor/sandbox.h"
#include "sim/tracee/linker_breakpoint.h"

namespace anyrdma::sim::debug {

void Cluster::run_again(Goal goal) {
  goal_ = goal;
  again_ = true;
  actions_.clear();
}

/// To the last hit before now: one run counts the hits until now, and the next one stops there.
void Cluster::go_back(const ThreadId& from) {
  const programs::Thread* const thread = find(from);
  time_ = sandbox_->world().now();
  // Nobody knows for how many instructions a thread has stood still that has not got the turn.
  counts_by_time_ = outside_ || thread == nullptr;
  way_ = counts_by_time_ ? Position{} : threads_.at(thread)->position;
  run_again(Goal::kCount);
}

void Cluster::finish_count() {
  sought_ = hits_;
  run_again(hits_ == 0 ? Goal::kBegin : Goal::kSeek);
}

/// To the instruction before. Where the last move was no step, a run counts how many it was.
void Cluster::step_back(const Position& from) {
  way_ = from;
  if (!way_.moves.empty()) {
    if (auto* const steps = std::get_if<Steps>(&way_.moves.back())) {
      if (--steps->count == 0) way_.moves.pop_back();
      return run_again(Goal::kArrive);
    }
  }
  until_call_ = way_.moves.empty();
  if (!until_call_) {
    until_ = way_.moves.back();
    auto* const signals = std::get_if<UntilSignals>(&way_.moves.back());
    if (signals == nullptr || --signals->count == 0) way_.moves.pop_back();
  } else if (way_.calls == 0) {
    return run_again(Goal::kBegin);
  } else {
    --way_.calls;
  }
  run_again(Goal::kMeasure);
}

bool Cluster::is_time_of(const Known& it) {
  if (!doers_.include(it.thread->name())) return false;
  ++doer_runs_;
  if (last_run_) return doer_runs_ == *last_run_;
  const verbs::Instant now = sandbox_->world().now();
  if (now < time_) return false;
  if (!record_) return true;
  if (now == time_ && !has_record(story_so_far(), *story_, *record_)) return false;
  if (doer_runs_ != 1) stop_before_record(doer_runs_ - 1);
  return doer_runs_ == 1;
}

bool Cluster::is_led(const Known& it) const {
  const bool leads = goal_ == Goal::kArrive || goal_ == Goal::kMeasure || goal_ == Goal::kFind ||
                     (goal_ == Goal::kCount && !counts_by_time_) ||
                     // The same intervals as when the hits were counted.
                     (goal_ == Goal::kSeek && !counts_by_time_ && compares());
  return leads && !again_ && it.position.thread == way_.thread && it.position.calls == way_.calls;
}

const Move* Cluster::next_move(const Known& it) const {
  return it.moves_done < way_.moves.size() ? &way_.moves[it.moves_done] : nullptr;
}

/// Of a thread, while gdb is not asked. True: it has come to where it was to come.
bool Cluster::follow(Known& it, const Event& event) {
  if (!is_led(it)) {
    count_hit(it, event);
    return false;
  }
  if (measuring_ && goal_ == Goal::kFind) return look_for_change(it, event);
  if (measuring_) {
    if (event.stepped) ++measured_;
    const auto* const until = std::get_if<UntilAddress>(&until_);
    const bool there = until_call_ || std::holds_alternative<UntilSignals>(until_) ? false
                       : until != nullptr ? it.thread->tracee().registers()->rip == until->address
                                          : event.watched.has_value();
    if (!there && measured_ < kStepsMax) return false;
    arrive(it);
    return true;
  }
  if (const Move* const move = next_move(it)) {
    const auto* const steps = std::get_if<Steps>(move);
    const auto* const address = std::get_if<UntilAddress>(move);
    const bool done = steps != nullptr     ? event.stepped && ++it.steps_done == steps->count
                      : address != nullptr ? event.at == address->address
                                           : std::holds_alternative<UntilWatched>(*move) &&
                                                 event.watched.has_value();
    if (done) {
      ++it.moves_done;
      it.steps_done = 0;
      it.process->stale = true;
    }
  }
  if (next_move(it) == nullptr && goal_ != Goal::kMeasure && goal_ != Goal::kFind) {
    // What has just been written is undone first; a breakpoint here has been seen.
    if (event.watched) count_hit(it, event);
    if (!ends_run()) arrive(it);
    return true;
  }
  count_hit(it, event);
  return false;
}

void Cluster::arrive(Known& it) {
  if (goal_ == Goal::kCount) return finish_count();
  if (goal_ == Goal::kMeasure) {
    // The step that came there is not made; one that makes a call is not counted.
    const std::uint64_t steps = until_call_ || measured_ == 0 ? measured_ : measured_ - 1;
    if (steps != 0) way_.moves.emplace_back(Steps{steps});
    return run_again(Goal::kArrive);
  }
  goal_ = Goal::kLive;
  if (std::exchange(reports_watch_, false)) {
    (void)serve({.why = Stopped::Why::kWatchpoint,
                 .thread = it.position.thread,
                 .address = watch_.address,
                 .watch = watch_.kind});
  } else {
    (void)serve({.why = Stopped::Why::kSignal, .thread = it.position.thread, .signal = SIGTRAP});
  }
}

void Cluster::count_hit(Known& it, const Event& event) {
  if (goal_ != Goal::kCount && goal_ != Goal::kSeek) return;
  const bool watched = is_watch_hit(it, event);
  // gdb's own breakpoint in the dynamic linker says that libraries are there, which is no news when
  // one goes back. The way from there to the instruction before is millions of steps.
  const bool at = event.at && wanted(*it.process).code.contains(*event.at) &&
                  tracee::linker_breakpoint_of(it.thread->tracee()) != *event.at;
  if (!watched && !at) return;
  if (++hits_ != sought_ || goal_ != Goal::kSeek) return;
  if (watched) {
    // Backwards, memory changes when the instruction that wrote it is undone.
    watch_ = *event.watched;
    reports_watch_ = true;
    return step_back(it.position);
  }
  goal_ = Goal::kLive;
  (void)serve({.why = Stopped::Why::kBreakpoint, .thread = it.position.thread});
}

/// Keeps the way by which the thread has come to where it is.
void Cluster::note(Known& it, const Event& event) {
  std::vector<Move>& moves = it.position.moves;
  if (event.stepped) {
    auto* const steps = moves.empty() ? nullptr : std::get_if<Steps>(&moves.back());
    if (steps != nullptr) {
      ++steps->count;
    } else {
      moves.emplace_back(Steps{1});
    }
  } else if (event.at) {
    moves.emplace_back(UntilAddress{*event.at});
  } else if (event.watched) {
    moves.emplace_back(UntilWatched{it.armed});
  }
}

}  // namespace anyrdma::sim::debug
