#include "sim/debug/cluster/cluster.h"

#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "sim/programs/process/process.h"
#include "sim/programs/process/thread.h"
#include "sim/programs/supervisor/sandbox.h"
#include "sim/world.h"

namespace anyrdma::sim::debug {

using programs::Process;
using programs::Sandbox;
using programs::Thread;
using tracee::Stop;
using tracee::StopKind;

namespace {

bool maps_code(long call) {
  return call == SYS_mmap || call == SYS_mprotect || call == SYS_mremap ||
         call == SYS_pkey_mprotect;
}

std::uint64_t place_of(const tracee::Tracee& thread) {
  const auto registers = thread.registers();
  return registers ? registers->rip : 0;
}

}  // namespace

Cluster::Cluster(std::unique_ptr<Connection> connection, Watching watching)
    : connection_(std::move(connection)), session_(*connection_, *this), watching_(watching) {}

void Cluster::begin(Sandbox& sandbox) {
  sandbox_ = &sandbox;
  processes_.clear();
  threads_.clear();
  copied_.clear();
  last_ = nullptr;
  again_ = false;
  interrupt_ = false;
  has_left_path_ = false;
  has_written_ = false;
  doer_runs_ = 0;
  hits_ = 0;
  measured_ = 0;
  measuring_ = false;
}

// --- who there is -------------------------------------------------------------------------------

std::int64_t Cluster::number_of(const Process& process) const {
  const auto& all = sandbox_->processes();
  return std::ranges::find_if(all, [&](const auto& each) { return each.get() == &process; }) -
         all.begin() + 1;
}

ThreadId Cluster::id_of(const Thread& thread) const {
  const auto& threads = thread.process().threads;
  const auto own =
      std::ranges::find_if(threads, [&](const auto& each) { return each.get() == &thread; });
  return {number_of(thread.process()), own - threads.begin() + 1};
}

Cluster::Debuggee& Cluster::debuggee(Process& process) {
  auto& place = processes_[&process];
  if (place == nullptr) {
    place = std::make_unique<Debuggee>();
    place->process = &process;
    place->number = number_of(process);
  }
  return *place;
}

Cluster::Known& Cluster::meet(Thread& thread) {
  auto& place = threads_[&thread];
  if (place == nullptr) {
    place = std::make_unique<Known>();
    place->thread = &thread;
    place->process = &debuggee(thread.process());
    place->position.thread = id_of(thread);
    const auto copied = copied_.find(thread.tid());
    if (copied != copied_.end()) {
      if (thread.process().lender == nullptr) copied->second.remove_from_copy(thread.tracee());
      copied_.erase(copied);
    }
  }
  return *place;
}

Cluster::Debuggee* Cluster::find(std::int64_t number) {
  for (const auto& [process, it] : processes_) {
    if (it->number == number && !process->status) return it.get();
  }
  return nullptr;
}

Thread* Cluster::find(const ThreadId& id) {
  const Debuggee* const it = find(id.process);
  if (it == nullptr) return nullptr;
  const auto& threads = it->process->threads;
  if (id.thread < 1 || static_cast<std::size_t>(id.thread) > threads.size()) return nullptr;
  Thread* const thread = threads[static_cast<std::size_t>(id.thread - 1)].get();
  return thread->is_over() ? nullptr : thread;
}

Thread* Cluster::any_thread() {
  const auto all = threads();
  if (all.empty()) return nullptr;
  const bool lives =
      std::ranges::any_of(all, [&](const auto& each) { return each.id == last_id_; });
  return find(lives ? last_id_ : all.front().id);
}

std::vector<Target::ThreadEntry> Cluster::threads() {
  std::vector<ThreadEntry> all;
  if (over_ || sandbox_ == nullptr) return all;
  for (const auto& process : sandbox_->processes()) {
    const auto found = processes_.find(process.get());
    if (process->status || found == processes_.end() || !found->second->visible ||
        detached_.contains(found->second->number))
      continue;
    std::int64_t number = 0;
    for (const auto& thread : process->threads) {
      ++number;
      if (!thread->is_over()) all.push_back({{found->second->number, number}, thread->name()});
    }
  }
  return all;
}

// --- running ------------------------------------------------------------------------------------

Stop Cluster::run(Thread& thread, int signal) {
  return go(thread, signal, false);
}

Stop Cluster::step(Thread& thread) {
  return go(thread, 0, true);
}

Stop Cluster::go(Thread& thread, int signal, bool one) {
  for (;;) {
    const pid_t tid = thread.tid();
    if (sandbox_->is_interrupted()) return {tid, StopKind::kStarted, 0};
    if (thread.is_over()) return {tid, StopKind::kGone, SIGKILL};
    Known& it = meet(thread);
    if (!alone_ && before(it)) continue;
    if (alone_) (void)wants_stop();
    const Position start = it.position;
    const Event event = resume(it, one, std::exchange(signal, 0));
    if (event.between && take_change(it, start, event)) continue;
    if (event.stop) {
      pass(it, *event.stop);
      return *event.stop;
    }
    if (act(it, event, one)) return {tid, StopKind::kSignal, SIGTRAP};
  }
}

/// Takes a stop that is the supervisor's.
void Cluster::pass(Known& it, const Stop& stop) {
  if (stop.kind == StopKind::kNewProcess && it.process->patches.any())
    copied_[stop.detail] = it.process->patches;
  if (stop.kind != StopKind::kCall && stop.kind != StopKind::kSignal) return;
  const bool is_call = stop.kind == StopKind::kCall;
  if (measuring_ && is_led(it)) {
    const bool until_signal = !until_call_ && std::holds_alternative<UntilSignals>(until_);
    if (goal_ == Goal::kFind) {
      finish_find();
    } else if (is_call ? until_call_ : until_signal) {
      arrive(it);
    }
  }
  if (is_call) {
    ++it.position.calls;
    it.position.moves.clear();
    const auto call = it.thread->tracee().call();
    it.maps = call && maps_code(call->number);
    return;
  }
  const Move* const move = is_led(it) ? next_move(it) : nullptr;
  const auto* const signals = move == nullptr ? nullptr : std::get_if<UntilSignals>(move);
  if (signals != nullptr && ++it.steps_done == signals->count) {
    ++it.moves_done;
    it.steps_done = 0;
  }
  auto& moves = it.position.moves;
  auto* const passed = moves.empty() ? nullptr : std::get_if<UntilSignals>(&moves.back());
  if (passed != nullptr) {
    ++passed->count;
  } else {
    moves.emplace_back(UntilSignals{1});
  }
}

/// What there is to say before the thread goes on. True: it was said.
bool Cluster::before(Known& it) {
  last_ = it.thread;
  last_id_ = it.position.thread;
  Debuggee& process = *it.process;
  // One that only borrows memory is its parent, with the parent's breakpoints.
  if (process.process->lender != nullptr || detached_.contains(process.number)) return false;
  const bool known = std::exchange(process.visible, true);
  const bool other = std::exchange(process.is_other, false);
  if (goal_ == Goal::kBegin) {
    goal_ = Goal::kLive;
    (void)serve({.why = Stopped::Why::kBegin, .thread = it.position.thread});
    return true;
  }
  if (!begun_) {
    begun_ = true;
    announced_.insert({process.number, process.image});
    (void)serve({.why = Stopped::Why::kSignal, .thread = it.position.thread, .signal = SIGTRAP});
    return true;
  }
  // gdb reads no registers of a program of which it was not told.
  const bool may_stay = goal_ == Goal::kLive || goal_ == Goal::kTime || goal_ == Goal::kFailure;
  if (may_stay && announced_.insert({process.number, process.image}).second) {
    announce(it);
    return true;
  }
  if (goal_ == Goal::kTime && is_time_of(it)) {
    goal_ = Goal::kLive;
    if (!show_libraries()) return true;
    (void)serve({.why = Stopped::Why::kSignal, .thread = it.position.thread, .signal = SIGTRAP});
    return true;
  }
  if (goal_ == Goal::kCount && counts_by_time_ && sandbox_->world().now() > time_) {
    finish_count();
    return true;
  }
  if (is_led(it) && next_move(it) == nullptr) {
    if (goal_ == Goal::kMeasure || goal_ == Goal::kFind) {
      measuring_ = true;
      return false;
    }
    arrive(it);
    return true;
  }
  if (goal_ != Goal::kLive) return false;
  if (other || !known) {
    announce(it);
    return true;
  }
  if (wants_stop()) {
    interrupt_ = false;
    (void)serve({.why = Stopped::Why::kSignal, .thread = it.position.thread, .signal = SIGINT});
    return true;
  }
  return false;
}

/// gdb takes it for a call of execve, and goes on.
void Cluster::announce(const Known& it) {
  (void)serve({.why = Stopped::Why::kProgram,
               .thread = it.position.thread,
               .path = executable(it.process->number)});
}

/// gdb was not asked while libraries were loaded: it reads now which ones the programs have. False:
/// gdb does not let the programs go on to what stopped them.
bool Cluster::show_libraries() {
  for (const auto& process : sandbox_->processes()) {
    const auto all = threads();
    const auto first = std::ranges::find_if(
        all, [&](const auto& each) { return each.id.process == number_of(*process); });
    if (first == all.end() || process->lender != nullptr) continue;
    (void)serve({.why = Stopped::Why::kLibraries, .thread = first->id});
    if (alone_ || ends_run() || goal_ != Goal::kLive) return false;
  }
  return true;
}

const Action* Cluster::action_of(const ThreadId& id) const {
  const auto found =
      std::ranges::find_if(actions_, [&](const Action& each) { return matches(each.whose, id); });
  return found == actions_.end() ? nullptr : &*found;
}

/// Takes what happened. True: the supervisor's step is done.
bool Cluster::act(Known& it, const Event& event, bool one) {
  if (alone_) return one && event.stepped;
  if (event.interrupted) {
    interrupt_ = false;
    // A search ends where it is.
    goal_ = Goal::kLive;
    measuring_ = false;
    reports_watch_ = false;
    (void)serve({.why = Stopped::Why::kSignal, .thread = it.position.thread, .signal = SIGINT});
    return false;
  }
  const Action* const action = action_of(it.position.thread);
  const bool gdb_steps = goal_ == Goal::kLive && action != nullptr && action->step;
  if (!one || gdb_steps || event.at || event.watched || is_led(it)) note(it, event);
  if (goal_ != Goal::kLive) {
    const bool arrived = follow(it, event);
    return !arrived && one && event.stepped;
  }
  if (is_watch_hit(it, event)) {
    (void)serve({.why = Stopped::Why::kWatchpoint,
                 .thread = it.position.thread,
                 .address = event.watched->address,
                 .watch = event.watched->kind});
  } else if (event.at && wanted(*it.process).code.contains(*event.at) && !event.stepped) {
    (void)serve({.why = Stopped::Why::kBreakpoint, .thread = it.position.thread});
  } else if (event.stepped && gdb_steps) {
    const std::uint64_t place = place_of(it.thread->tracee());
    if (place < action->begin || place >= action->end) {
      (void)serve({.why = Stopped::Why::kSignal, .thread = it.position.thread, .signal = SIGTRAP});
    }
  }
  return one && event.stepped;
}

/// To the next stop, whose ever it is.
Cluster::Event Cluster::resume(Known& it, bool one, int signal) {
  const Action* const action = goal_ == Goal::kLive ? action_of(it.position.thread) : nullptr;
  const bool is_noted = !one || is_led(it) || (action != nullptr && action->step);
  begin_interval(it);
  Event event = go_on(it, one, signal);
  end_interval(it, event, is_noted);
  return event;
}

Cluster::Event Cluster::go_on(Known& it, bool one, int signal) {
  Thread& thread = *it.thread;
  tracee::Tracee& tracee = thread.tracee();
  sync(it);
  arm(it);
  const std::uint64_t place = place_of(tracee);
  Patches& patches = it.process->process->lender == nullptr
                         ? it.process->patches
                         : debuggee(it.process->process->lender->process()).patches;
  const Action* const action = goal_ == Goal::kLive ? action_of(it.position.thread) : nullptr;
  const Move* const move = is_led(it) ? next_move(it) : nullptr;
  const bool steps = one || (!alone_ && action != nullptr && action->step) ||
                     (move != nullptr && std::holds_alternative<Steps>(*move)) ||
                     (measuring_ && is_led(it));
  const bool lifts = patches.at(place) && it.passed == place;
  it.passed.reset();
  if (lifts) patches.lift(tracee, place);
  Event event;
  Stop stop;
  do {
    if (steps || lifts) {
      tracee.step(std::exchange(signal, 0));
    } else if (it.maps && goal_ != Goal::kLive) {
      it.maps = false;
      tracee.run_to_return();  // what is mapped then may have breakpoints
    } else {
      tracee.run(std::exchange(signal, 0));
    }
    stop = sandbox_->await(thread);
    event.interrupted = stop.kind == StopKind::kStarted && interrupt_;
  } while (stop.kind == StopKind::kStarted && (steps || lifts) && !event.interrupted &&
           !sandbox_->is_interrupted() && !thread.is_over());
  if (lifts) patches.put_back(tracee, place);
  if (event.interrupted) return event;
  if (stop.kind == StopKind::kReturn) {
    it.process->stale = true;
    return event;
  }
  if (stop.kind != StopKind::kSignal || stop.detail != SIGTRAP) {
    event.stop = stop;
    return event;
  }
  event.watched = triggered(it);
  const std::uint64_t after = place_of(tracee);
  const bool trapped = patches.at(after - 1) && (!steps || place == after - 1) && !lifts;
  if (trapped) {
    auto registers = *tracee.registers();
    registers.rip = after - 1;
    tracee.set_registers(registers);
    it.passed = event.at = after - 1;
    return event;
  }
  if (steps) {
    event.stepped = true;
    if (patches.at(after)) it.passed = event.at = after;
    return event;
  }
  event.lifted = lifts;
  if (lifts || event.watched) return event;
  event.stop = stop;  // the program's own
  return event;
}

int Cluster::on_signal(Thread& thread, int signal) {
  if (alone_ || ends_run()) return signal;
  Known& it = meet(thread);
  if (!it.process->visible || detached_.contains(it.process->number)) return signal;
  if (goal_ == Goal::kFailure && programs::is_crash(signal)) {
    goal_ = Goal::kLive;
    if (!show_libraries()) return signal;
  }
  if (goal_ != Goal::kLive || session_.passes(signal)) return signal;
  const int delivered =
      serve({.why = Stopped::Why::kSignal, .thread = it.position.thread, .signal = signal});
  has_written_ |= delivered != signal;
  return delivered;
}

void Cluster::on_program(Thread& thread) {
  Debuggee& it = debuggee(thread.process());
  if (it.image++ != 0) it.is_other = true;
  it.patches.forget();
  it.values.clear();
  it.stale = true;
  for (const auto& [known, each] : threads_) {
    if (each->process != &it) continue;
    each->armed.clear();
    each->left.reset();
  }
}

bool Cluster::wants_stop() {
  if (!session_.is_open()) return false;
  const bool interrupted = session_.is_interrupted();
  if (alone_) return false;
  interrupt_ |= interrupted;
  if (!session_.is_open()) leave_alone();
  return interrupt_;
}

void Cluster::look() {
  if (ends_run() || !begun_ || goal_ != Goal::kLive || !wants_stop()) return;
  interrupt_ = false;
  Thread* const thread = any_thread();
  if (thread == nullptr) return;
  outside_ = true;
  (void)serve({.why = Stopped::Why::kSignal, .thread = id_of(*thread), .signal = SIGINT});
  outside_ = false;
}

void Cluster::on_failure(std::string_view why) {
  if (alone_ || ends_run() || !begun_) return;
  // A program that ends is not the end of the run, and may end long before the moment to come to.
  const bool at_end = sandbox_->world().scheduler().fibers().current() == nullptr;
  if (goal_ == Goal::kCount && (at_end || is_counted_to_now())) return finish_count();
  if (goal_ == Goal::kTime && at_end && record_ && !last_run_ && doer_runs_ != 0)
    return stop_before_record(doer_runs_);
  if (goal_ != Goal::kLive && goal_ != Goal::kFailure && (goal_ != Goal::kTime || !at_end)) return;
  const bool travelled = goal_ != Goal::kLive;
  Thread* const doer = goal_ == Goal::kTime ? first_doer() : nullptr;
  goal_ = Goal::kLive;
  Thread* const thread = doer != nullptr ? doer : any_thread();
  if (thread == nullptr) return;
  session_.print(why);
  outside_ = true;
  if (!travelled || show_libraries())
    (void)serve({.why = Stopped::Why::kSignal, .thread = id_of(*thread), .signal = SIGTRAP});
  outside_ = false;
}

/// Returns the signal that gdb has the stopped thread take.
int Cluster::serve(const Stopped& stopped) {
  if (!news_.empty()) session_.print(std::exchange(news_, {}));
  Resumed resumed = session_.serve(stopped);
  if (!news_.empty()) session_.print(std::exchange(news_, {}));
  actions_.clear();
  switch (resumed.how) {
    case Resumed::How::kForward: {
      actions_ = std::move(resumed.actions);
      if (const auto goal = std::exchange(next_goal_, std::nullopt)) {
        actions_.clear();
        goal_ = *goal;
        if (goal_ == Goal::kTime && sandbox_->world().now() >= time_) run_again(Goal::kTime);
        if (goal_ == Goal::kSurvey) go_to_record();
        return 0;
      }
      const Action* const action = action_of(stopped.thread);
      return action == nullptr ? 0 : linux_signal(action->signal);
    }
    case Resumed::How::kBack:
      go_back(stopped.thread);
      return 0;
    case Resumed::How::kStepBack:
      if (const Thread* const thread = find(stopped.thread)) {
        reports_watch_ = false;
        step_back(threads_.at(thread)->position);
      }
      return 0;
    case Resumed::How::kAlone:
      leave_alone();
      return stopped.why == Stopped::Why::kSignal && stopped.signal != SIGTRAP &&
                     stopped.signal != SIGINT
                 ? stopped.signal
                 : 0;
    case Resumed::How::kKilled:
      killed_ = true;
      return 0;
  }
  return 0;
}

void Cluster::leave_alone() {
  alone_ = true;
  goal_ = Goal::kLive;
  actions_.clear();
  points_.clear();
  for (const auto& [process, it] : processes_) it->stale = true;
}

bool Cluster::runs_again() {
  if (over_ || killed_ || alone_) return false;
  if (!again_ && looks_further()) return true;
  if (again_ || goal_ == Goal::kLive || goal_ == Goal::kTime || goal_ == Goal::kFailure)
    return again_;
  if (goal_ == Goal::kCount) {
    finish_count();
  } else {
    run_again(Goal::kBegin);  // it did not come by there again: a run outside of our control
  }
  return again_;
}

void Cluster::end() {
  if (alone_ || killed_ || !begun_) return;
  int status = 0;
  for (const auto& process : sandbox_->processes()) {
    if (debuggee(*process).number == last_id_.process) status = process->status.value_or(0);
  }
  over_ = true;
  const bool exited = WIFEXITED(status);
  while (session_.is_open()) {
    (void)session_.serve({.why = exited ? Stopped::Why::kExited : Stopped::Why::kKilled,
                          .thread = last_id_,
                          .signal = exited ? WEXITSTATUS(status) : WTERMSIG(status)});
  }
}

}  // namespace anyrdma::sim::debug
