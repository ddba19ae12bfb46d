// The scheduler of virtual time: tasks ordered by (time, order of arming), and fibers, which run
// before the clock advances; or in the order of a Schedule.
#pragma once

#include <atomic>
#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/schedule/fiber.h"
#include "sim/schedule/schedule.h"
#include "verbs/time.h"
#include "verbs/timer_queue.h"

namespace anyrdma::sim {

using verbs::Duration;
using verbs::Instant;

/// Something that happens at a time. Armed at most once at a time; must be idle when destroyed.
class Task {
 public:
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  [[nodiscard]] bool armed() const { return timer_.armed(); }

 protected:
  Task() : timer_(this) {}
  virtual ~Task() = default;
  /// Tasks of one lane that are due at one instant stay in their order whatever the schedule; in
  /// lane 0, the default, each is on its own.
  void set_lane(std::uint32_t lane) { lane_ = lane; }
  [[nodiscard]] std::uint32_t lane() const { return lane_; }

 private:
  friend class Scheduler;
  /// The task is idle again when it runs, and may arm itself.
  virtual void run() = 0;

  verbs::Timer<Task*> timer_;
  std::uint32_t lane_ = 0;
};

/// An object that arms its tasks late: only when the scheduler is about to read the time, however
/// often they have moved by then.
class Settler : public boost::intrusive::list_base_hook<
                    boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  /// Arms or cancels.
  virtual void settle() = 0;

 protected:
  ~Settler() = default;
};

/// Hears of the schedule's choices other than the first.
class ChoiceObserver {
 public:
  /// Before what was chosen runs. `fiber`: null if it is a task.
  virtual void on_choice(const Deviation& choice, const Fiber* fiber) = 0;

 protected:
  ~ChoiceObserver() = default;
};

/// Tells threads apart.
[[nodiscard]] inline const void* this_thread() {
  static constinit thread_local char place = 0;
  return &place;
}

/// The heart of the simulator. Single-threaded; several may live in different threads.
class Scheduler {
 public:
  static constexpr Instant kNever = Instant::max();
  /// The wait reason of a fiber that polls.
  static constexpr char kPolls[] = "something to happen (it polls)";
  static constexpr char kIdles[] = "time to pass";

  explicit Scheduler(std::size_t stack_bytes, const Schedule& schedule = {}, std::uint64_t seed = 0)
      : seeds_(seed, schedule.branches), chooser_(schedule, seeds_), fibers_(stack_bytes) {}

  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] Fibers& fibers() { return fibers_; }
  [[nodiscard]] const Fibers& fibers() const { return fibers_; }
  /// How many tasks have run.
  [[nodiscard]] std::uint64_t events() const { return events_; }

  /// Sets the task to run at `time` (the past means now); an armed one is moved. Tasks of one
  /// instant run in the order of arming. O(log n).
  void at(Task& task, Instant time) { queue_.arm(task.timer_, time < now_ ? now_ : time); }
  /// Like the function above, in a turn that was taken before.
  void at(Task& task, Instant time, std::uint64_t turn) { queue_.arm(task.timer_, time, turn); }
  [[nodiscard]] std::uint64_t take_turn() { return queue_.take_turn(); }
  void cancel(Task& task) { queue_.cancel(task.timer_); }
  /// Whether nothing could happen before a task armed at that time, so that the running task can do
  /// its work now. Always false if a schedule chooses.
  [[nodiscard]] bool comes_next(Instant time, std::uint64_t turn) const {
    return time == now_ && !queue_.anything_before(time, turn) && !fibers_.any_ready() &&
           !chooser_.active();
  }
  /// Has `settler` settle before the next task is chosen; in the order of these calls.
  void settle_later(Settler& settler) {
    if (!settler.is_linked()) unsettled_.push_back(settler);
  }
  [[nodiscard]] Instant time_of(const Task& task) const { return queue_.deadline(task.timer_); }

  /// Runs one ready fiber, or advances the clock to the next task not later than `limit` and runs
  /// it, as the schedule chooses. False: there is neither. Do not call it from a fiber.
  bool step(Instant limit = kNever);
  /// Whether anything of the kind is left, however late.
  [[nodiscard]] bool anything_left();
  /// While it lives the world runs in this thread, and calls from others are refused.
  class Running {
   public:
    explicit Running(Scheduler& scheduler)
        : thread_(scheduler.thread_), before_(thread_.load(std::memory_order_relaxed)) {
      thread_.store(this_thread(), std::memory_order_relaxed);
    }
    ~Running() { thread_.store(before_, std::memory_order_relaxed); }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    std::atomic<const void*>& thread_;
    const void* before_;
  };
  /// Throws verbs::ForeignThread, after a sentence on stderr, in any thread but the one in which
  /// the world runs. Nothing while it does not.
  void check_thread() const {
    const void* const thread = thread_.load(std::memory_order_relaxed);
    if (thread != nullptr && thread != this_thread()) [[unlikely]]
      refuse_thread();
  }
  /// Null: none, as at first. Outlives the scheduler.
  void set_choice_observer(ChoiceObserver* observer) { choice_observer_ = observer; }
  /// Where the schedule's choices were not the first.
  [[nodiscard]] const std::vector<Deviation>& deviations() const { return chooser_.deviations(); }
  /// Until when nothing happens by itself; kNever.
  [[nodiscard]] Instant quiet_until();
  /// Moves the clock without anything happening. Precondition: nothing is due before.
  void skip_to(Instant time);

  /// For programs that poll: lets something else happen, then returns. Tasks of other hosts only
  /// (see concern) do not count for a microsecond, the cost of an empty poll. If nothing can
  /// happen, that time passes, and more after a thousand polls in a row. After an hour of only
  /// polls, step() returns false.
  void poll();
  /// Parks the running fiber, which checks again at `time` at the latest.
  void poll_until(Instant time);
  /// All that is ready goes on before the running fiber does.
  void let_others_go_first();
  /// Whether a schedule chooses the order.
  [[nodiscard]] bool chooses() const { return chooser_.active(); }
  /// The running fiber comes to a scheduling point (a verbs call, a lock) at which the schedule may
  /// have others go on before it. Nothing happens in default order, and outside of all fibers. A
  /// fiber that is killed meanwhile runs on until it waits, as one that was not at a point does.
  void give_way();
  /// Of the run, for its random streams.
  [[nodiscard]] const Seeds& seeds() const { return seeds_; }
  /// At how many points there was a choice so far.
  [[nodiscard]] std::uint64_t choices() const { return chooser_.points(); }
  /// Says that the running task concerns a host. A task that never does concerns all hosts.
  void concern(const Host& host) {
    concerns_more_ |= concerned_ != nullptr && concerned_ != &host;
    concerned_ = &host;
  }

  /// Keeps the reason of a wait outside of all fibers that failed because nothing could happen any
  /// more.
  void note_refusal(const char* purpose, const std::string& details);
  /// The last such note; empty if there is none.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

  /// Sleeps the running fiber, or the thread outside of fibers, for that time. False: it was
  /// cancelled.
  bool idle_until(Instant time);

 private:
  class Alarm;
  class Glance;
  struct Disarmed;
  [[noreturn]] static void refuse_thread();
  void settle();
  void wake_pollers();
  void wake_concerned_pollers();
  void skip_empty_poll(Instant limit);
  void run_task(Task& task);
  /// step(), where there is a choice: false when there is nothing to choose from.
  bool step_chosen(Instant limit);
  void gather_due();

  std::atomic<const void*> thread_ = nullptr;
  Seeds seeds_;
  Chooser chooser_;
  ChoiceObserver* choice_observer_ = nullptr;
  std::vector<std::uint64_t> candidates_;  ///< of step_chosen
  std::vector<verbs::Timer<Task*>*> due_;  ///< likewise
  Instant now_{};
  std::uint64_t events_ = 0;
  Duration in_vain_{};  ///< how long there has been nothing but empty polls
  verbs::TimerQueue<Task*> queue_;
  boost::intrusive::list<Settler, boost::intrusive::constant_time_size<false>> unsettled_;
  FiberList pollers_;
  const Host* concerned_ = nullptr;  ///< by the running task
  bool concerns_more_ = false;       ///< more than that host
  Fibers fibers_;
  std::string refusal_;
};

}  // namespace anyrdma::sim
