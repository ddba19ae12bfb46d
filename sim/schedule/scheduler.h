// The scheduler of virtual time. By default, tasks run in the order of their time and then of their
// arming, and ready fibers run before the clock advances. A Schedule may choose another order.
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

/// An event that the scheduler runs at a certain virtual time. A task is armed for one time at
/// most, and must not be armed when it is destroyed.
class Task {
 public:
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  [[nodiscard]] bool armed() const { return timer_.armed(); }

 protected:
  Task() : timer_(this) {}
  virtual ~Task() = default;
  /// Sets the lane. Tasks with the same lane that are due at the same instant run in their order
  /// under every schedule, as the packets of one link do. Tasks in lane 0, the default, may run in
  /// any order.
  void set_lane(std::uint32_t lane) { lane_ = lane; }
  [[nodiscard]] std::uint32_t lane() const { return lane_; }

 private:
  friend class Scheduler;
  /// Called at the task's time. The task is no longer armed then, and may arm itself again.
  virtual void run() = 0;

  verbs::Timer<Task*> timer_;
  std::uint32_t lane_ = 0;
};

/// An object whose timers change often. Instead of arming its task at every change, it does so
/// once, when the scheduler is about to choose the next task.
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
  /// Called before the chosen fiber or task runs. `fiber`: null if a task was chosen.
  virtual void on_choice(const Deviation& choice, const Fiber* fiber) = 0;

 protected:
  ~ChoiceObserver() = default;
};

/// Tells threads apart.
[[nodiscard]] inline const void* this_thread() {
  static constinit thread_local char place = 0;
  return &place;
}

/// Runs fibers and tasks in virtual time. Each scheduler belongs to one thread; several schedulers
/// may exist in different threads.
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

  /// Arms the task for `time` (the current time if that is past); an armed task is moved. Tasks
  /// with the same time run in the order of arming. O(log n).
  void at(Task& task, Instant time) { queue_.arm(task.timer_, time < now_ ? now_ : time); }
  /// Like the function above, in a turn that was taken before.
  void at(Task& task, Instant time, std::uint64_t turn) { queue_.arm(task.timer_, time, turn); }
  [[nodiscard]] std::uint64_t take_turn() { return queue_.take_turn(); }
  void cancel(Task& task) { queue_.cancel(task.timer_); }
  /// Whether a task armed for `time` would be the next to run, so that the running task can do its
  /// work at once instead. Always false if a schedule chooses the order.
  [[nodiscard]] bool comes_next(Instant time, std::uint64_t turn) const {
    return time == now_ && !queue_.anything_before(time, turn) && !fibers_.any_ready() &&
           !chooser_.active();
  }
  /// Requests that Settler::settle is called before the next task is chosen. Settlers are called in
  /// the order of these requests.
  void settle_later(Settler& settler) {
    if (!settler.is_linked()) unsettled_.push_back(settler);
  }
  [[nodiscard]] Instant time_of(const Task& task) const { return queue_.deadline(task.timer_); }

  /// Runs one ready fiber, or advances the clock to the next task not later than `limit` and runs
  /// it, as the schedule chooses. False: there is neither. Do not call it from a fiber.
  bool step(Instant limit = kNever);
  /// Whether a fiber is ready or a task is armed, at any future time.
  [[nodiscard]] bool anything_left();
  /// While an object of this class exists, the world belongs to the current thread, and calls from
  /// other threads are refused (check_thread()).
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
  /// Throws verbs::ForeignThread, after a message on stderr, if the world is running in another
  /// thread than the calling one. No effect while the world is not running.
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

  /// For programs that poll: runs something else, then returns. For one microsecond (the cost of an
  /// empty poll), tasks that concern only other hosts (see concern()) do not count. If nothing else
  /// can happen, that time passes, and more after a thousand polls in a row. After an hour of
  /// virtual time with nothing but polls, step() returns false.
  void poll();
  /// Suspends the running fiber until something happens, or until `time`; its caller then checks
  /// again.
  void poll_until(Instant time);
  /// All that is ready goes on before the running fiber does.
  void let_others_go_first();
  /// Whether a schedule chooses the order.
  [[nodiscard]] bool chooses() const { return chooser_.active(); }
  /// A scheduling point (a verbs call or a lock) in the running fiber: the schedule may let other
  /// fibers and tasks run first. No effect in the default order and outside of fibers. If the fiber
  /// is killed during the call, it continues until its next wait, as if there had been no
  /// scheduling point.
  void give_way();
  /// Of the run, for its random streams.
  [[nodiscard]] const Seeds& seeds() const { return seeds_; }
  /// At how many points there was a choice so far.
  [[nodiscard]] std::uint64_t choices() const { return chooser_.points(); }
  /// Declares that the running task affects only the given host, so that polling programs of other
  /// hosts need not check again. A task that never calls this function counts as affecting all
  /// hosts.
  void concern(const Host& host) {
    concerns_more_ |= concerned_ != nullptr && concerned_ != &host;
    concerned_ = &host;
  }

  /// Stores the purpose of a wait, made outside of fibers, that failed because nothing could happen
  /// any more.
  void note_refusal(const char* purpose, const std::string& details);
  /// The last such note; empty if there is none.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

  /// Suspends the running fiber, or the calling thread outside of fibers, until `time`. Returns
  /// false if the sleep was cancelled.
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
  /// Like step(), if the schedule chooses among several candidates. Returns false if there is no
  /// candidate.
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
