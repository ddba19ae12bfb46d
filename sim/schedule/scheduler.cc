#include "sim/schedule/scheduler.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <mutex>

#include "base/text.h"
#include "verbs/assert.h"
#include "verbs/foreign_thread.h"

namespace anyrdma::sim {
namespace {

constexpr Duration kEmptyPoll = std::chrono::microseconds(1);
/// An empty poll takes more and more virtual time while threads only poll, so that a thread that
/// polls for minutes is soon done.
constexpr int kEmptyPollShare = 1024;
/// Who has polled for so long in vain polls for what can never happen.
constexpr Duration kPollingMax = std::chrono::hours(1);

}  // namespace

void Scheduler::settle() {
  while (!unsettled_.empty()) {
    Settler& settler = unsettled_.front();
    unsettled_.pop_front();
    settler.settle();
  }
}

void Scheduler::refuse_thread() {
  static constexpr const char* kSentence =
      "a call was refused (EPERM): it came from another thread than the one that runs the "
      "simulated "
      "world. Simulated hosts have fibers, no threads: use Host::spawn where the program "
      "starts a thread, or run it as a process (docs/programs.md).";
  static std::once_flag said;
  std::call_once(said,
                 [] { std::fprintf(stderr, "anyrdma: the program's mistake: %s\n", kSentence); });
  throw verbs::ForeignThread(kSentence);
}

bool Scheduler::step(Instant limit) {
  const Running running(*this);
  if (chooser_.active()) {
    if (step_chosen(limit)) return true;
  } else if (fibers_.run_one()) {
    return true;
  }
  settle();
  const Instant next = queue_.first_deadline();
  if (queue_.empty()) {
    if (pollers_.empty() || now_ + kEmptyPoll > limit || in_vain_ >= kPollingMax) return false;
    skip_empty_poll(limit);
    wake_pollers();
  } else {
    if (next > limit) return false;
    now_ = next;
    run_task(*queue_.next_expired(now_)->tag());
  }
  return true;
}

bool Scheduler::anything_left() {
  settle();
  return fibers_.any_ready() || queue_.next_deadline().has_value();
}

void Scheduler::run_task(Task& task) {
  ++events_;
  in_vain_ = Duration::zero();
  concerned_ = nullptr;
  concerns_more_ = false;
  task.run();
  if (pollers_.empty()) return;
  // Where the schedule is chosen, who polls is a choice, too.
  if (concerned_ == nullptr || concerns_more_ || chooser_.active()) {
    wake_pollers();
  } else {
    wake_concerned_pollers();
  }
}

void Scheduler::wake_pollers() {
  while (!pollers_.empty()) fibers_.wake(pollers_.front());
}

void Scheduler::wake_concerned_pollers() {
  for (auto next = pollers_.begin(); next != pollers_.end();) {
    Fiber& fiber = *next++;
    const bool concerned = fiber.host() == concerned_ || fiber.host() == nullptr;
    if (concerned || now_ - fiber.since() >= kEmptyPoll) fibers_.wake(fiber);
  }
}

// Of the tasks that come next, the first of each lane; lane 0 has many firsts.
void Scheduler::gather_due() {
  queue_.first_of_all(due_);
  auto kept = due_.begin();
  for (verbs::Timer<Task*>* timer : due_) {
    const std::uint32_t lane = timer->tag()->lane_;
    const auto same_lane = [lane](const auto* other) { return other->tag()->lane_ == lane; };
    if (lane == 0 || std::none_of(due_.begin(), kept, same_lane)) *kept++ = timer;
  }
  due_.erase(kept, due_.end());
}

std::size_t Scheduler::choose() {
  if (director_ == nullptr) return chooser_.choose(candidates_);
  directed_.clear();
  for (const Fiber& fiber : fibers_.ready()) directed_.push_back({.fiber = &fiber});
  for (const auto* timer : due_)
    directed_.push_back({.task = timer->tag(), .due = queue_.deadline(*timer)});
  CM_ASSERT(directed_.size() == candidates_.size());
  const SchedulingStep step{.point = chooser_.points(),
                            .now = now_,
                            .candidates = directed_,
                            .choice = chooser_.propose(candidates_)};
  const std::size_t choice = director_->direct(step);
  CM_ASSERT(choice < candidates_.size());
  chooser_.take(candidates_.size(), choice);
  return choice;
}

std::uint64_t Candidate::number() const {
  constexpr std::uint64_t kKinds = 3;
  if (fiber != nullptr) return kKinds * fiber->number();
  if (task->lane() != 0) return kKinds * task->lane() + 1;
  return kKinds * static_cast<std::uint64_t>(due.time_since_epoch().count()) + 2;
}

std::size_t Scheduler::gather_candidates(Instant limit, const Fiber* first) {
  settle();
  candidates_.clear();
  if (first != nullptr) candidates_.push_back(2 * first->number() + 1);
  for (const Fiber& fiber : fibers_.ready()) candidates_.push_back(2 * fiber.number() + 1);
  const std::size_t fibers = candidates_.size();
  // Of each fiber: one that sleeps and runs, sleeps and runs, must not keep the others waiting.
  auto waits_since = fibers_.longest_ready(now_);
  if (first != nullptr && !waits_since) waits_since = now_;
  const Instant latest = waits_since ? std::min(limit, *waits_since + chooser_.slack()) : limit;
  due_.clear();
  if (const auto next = queue_.next_deadline(); next && *next <= latest) gather_due();
  for (const auto* timer : due_) candidates_.push_back(2 * std::uint64_t{timer->tag()->lane_});
  return fibers;
}

std::uint64_t Scheduler::points_to_pass(std::uint64_t most) {
  const Fiber* const fiber = fibers_.current();
  if (fiber == nullptr || !chooser_.active() || director_ != nullptr) return 0;
  (void)gather_candidates(limit_, fiber);
  return chooser_.stays(candidates_, most);
}

void Scheduler::pass_points(std::uint64_t count) {
  for (; count > 0; --count) {
    const std::size_t choice = chooser_.choose(candidates_);
    CM_ASSERT(choice == 0);
  }
}

bool Scheduler::step_chosen(Instant limit) {
  limit_ = limit;
  const std::size_t fibers = gather_candidates(limit, nullptr);
  if (candidates_.empty()) return false;
  ++steps_;
  const std::size_t choice = choose();
  if (choice != 0 && choice_observer_ != nullptr) {
    const Fiber* const fiber =
        choice < fibers ? &*std::next(fibers_.ready().begin(), static_cast<std::ptrdiff_t>(choice))
                        : nullptr;
    choice_observer_->on_choice(chooser_.deviations().back(), fiber);
  }
  if (choice < fibers) {
    fibers_.run_nth(choice);
    return true;
  }
  verbs::Timer<Task*>& timer = *due_[choice - fibers];
  now_ = queue_.deadline(timer);
  queue_.cancel(timer);
  run_task(*timer.tag());
  return true;
}

Instant Scheduler::quiet_until() {
  settle();
  return queue_.next_deadline().value_or(kNever);
}

void Scheduler::skip_to(Instant time) {
  settle();
  CM_ASSERT(!queue_.next_deadline() || *queue_.next_deadline() >= time);
  now_ = std::max(now_, time);
}

void Scheduler::skip_empty_poll(Instant limit) {
  const Duration pause = std::max(kEmptyPoll, in_vain_ / kEmptyPollShare);
  const Instant end = limit - now_ < pause ? limit : now_ + pause;
  in_vain_ += end - now_;
  now_ = end;
}

void Scheduler::poll() {
  if (fibers_.current() != nullptr) {
    (void)fibers_.park(pollers_, kPolls, now_ - in_vain_);
  } else if (!step()) {
    CM_ASSERT(in_vain_ < kPollingMax);  // this program polls for what can never happen
    skip_empty_poll(kNever);
  }
}

/// Cancels a task when its wait ends, also that of a fiber that is killed meanwhile.
struct Scheduler::Disarmed {
  Scheduler& scheduler;
  Task& task;
  ~Disarmed() { scheduler.cancel(task); }
};

/// Has happened: that wakes who polls.
class Scheduler::Glance final : public Task {
 private:
  void run() override {}
};

void Scheduler::poll_until(Instant time) {
  CM_ASSERT(fibers_.current() != nullptr);
  Glance glance;
  at(glance, time);
  const Disarmed disarmed{*this, glance};
  (void)fibers_.park(pollers_, kPolls, now_);
}

void Scheduler::let_others_go_first() {
  fibers_.give_way(Fibers::Place::kLast);
}

void Scheduler::give_way() {
  if (chooser_.active() && fibers_.current() != nullptr) fibers_.give_way();
}

void Scheduler::note_refusal(const char* purpose, const std::string& details) {
  refusal_ = std::string("code outside of all fibers waited for ") + purpose + " at " +
             seconds_text(now_.time_since_epoch()) + " s\n" + details;
}

/// Wakes a fiber.
class Scheduler::Alarm final : public Task {
 public:
  Alarm(Fibers& fibers, FiberList& sleeper) : fibers_(fibers), sleeper_(sleeper) {}

 private:
  void run() override {
    if (!sleeper_.empty()) fibers_.wake(sleeper_.front());  // else it has been abandoned
  }

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
  const Disarmed disarmed{*this, alarm};
  return fibers_.park(sleeper, kIdles, now_);
}

}  // namespace anyrdma::sim
