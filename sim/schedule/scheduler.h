// The scheduler of virtual time. By default, tasks (timed events) run in the order of their time
// and, at one instant, in the order in which they were armed. Ready fibers (user-space threads) run
// before the clock advances. A Schedule may choose another order.
#pragma once

#include <atomic>
#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/schedule/director.h"
#include "sim/schedule/fiber.h"
#include "sim/schedule/schedule.h"
#include "verbs/time.h"
#include "verbs/timer_queue.h"

namespace anyrdma::sim {

using verbs::Duration;
using verbs::Instant;

/// An event that the scheduler runs at a certain virtual time. A task is armed for at most one
/// time. A task that is armed must not be destroyed.
class Task {
 public:
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  [[nodiscard]] bool armed() const { return timer_.armed(); }
  /// Returns in a few words what happens when the task runs, for reports.
  [[nodiscard]] virtual std::string what() { return "a timer expires"; }
  [[nodiscard]] std::uint32_t lane() const { return lane_; }

 protected:
  Task() : timer_(this) {}
  virtual ~Task() = default;
  /// Sets the lane (a number that groups tasks, such as the packets of one link). Under every
  /// schedule, tasks with the same lane that are due at the same instant run in their order. Tasks
  /// in lane 0, the default, may run in any order.
  void set_lane(std::uint32_t lane) { lane_ = lane; }

 private:
  friend class Scheduler;
  /// Called at the time for which the task was armed. The task is no longer armed then, and may arm
  /// itself again.
  virtual void run() = 0;

  verbs::Timer<Task*> timer_;
  std::uint32_t lane_ = 0;
};

/// An object whose timers change often. Instead of arming its task at every change, the object arms
/// it once, when the scheduler is about to choose the next task.
class Settler : public boost::intrusive::list_base_hook<
                    boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  /// Arms or cancels.
  virtual void settle() = 0;

 protected:
  ~Settler() = default;
};

/// Observes the schedule's choices other than the first candidate.
class ChoiceObserver {
 public:
  /// Called before the chosen fiber or task runs. `fiber` is the chosen fiber; null: the choice is
  /// a task.
  virtual void on_choice(const Deviation& choice, const Fiber* fiber) = 0;

 protected:
  ~ChoiceObserver() = default;
};

/// Tells threads apart.
[[nodiscard]] inline const void* this_thread() {
  static constinit thread_local char place = 0;
  return &place;
}

/// Runs fibers (user-space threads) and tasks (timed events) in virtual time. Each scheduler
/// belongs to one thread; several schedulers may exist in different threads.
class Scheduler {
 public:
  static constexpr Instant kNever = Instant::max();
  /// The text that reports show as the purpose of a fiber that polls.
  static constexpr char kPolls[] = "something to happen (it polls)";
  static constexpr char kIdles[] = "time to pass";

  explicit Scheduler(std::size_t stack_bytes, const Schedule& schedule = {}, std::uint64_t seed = 0)
      : seeds_(seed, schedule.branches), chooser_(schedule, seeds_), fibers_(stack_bytes) {}

  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] Fibers& fibers() { return fibers_; }
  [[nodiscard]] const Fibers& fibers() const { return fibers_; }
  /// How many tasks have run.
  [[nodiscard]] std::uint64_t events() const { return events_; }

  /// Arms the task for `time`, or for the current time if `time` is in the past. If the task is
  /// armed already, its time changes. Tasks with the same time run in the order of arming. O(log
  /// n).
  void at(Task& task, Instant time) { queue_.arm(task.timer_, time < now_ ? now_ : time); }
  /// Arms the task for `time`, in the turn that an earlier call of take_turn() has returned.
  void at(Task& task, Instant time, std::uint64_t turn) { queue_.arm(task.timer_, time, turn); }
  [[nodiscard]] std::uint64_t take_turn() { return queue_.take_turn(); }
  void cancel(Task& task) { queue_.cancel(task.timer_); }
  /// Whether a task armed for `time` would be the next to run. Then the running task can do the
  /// work of that task at once. Always false if a schedule chooses the order.
  [[nodiscard]] bool comes_next(Instant time, std::uint64_t turn) const {
    return time == now_ && !queue_.anything_before(time, turn) && !fibers_.any_ready() &&
           !chooser_.active();
  }
  /// Requests that Settler::settle is called for `settler` before the next task is chosen. Settlers
  /// are called in the order of these requests.
  void settle_later(Settler& settler) {
    if (!settler.is_linked()) unsettled_.push_back(settler);
  }
  [[nodiscard]] Instant time_of(const Task& task) const { return queue_.deadline(task.timer_); }

  /// Runs one ready fiber, or advances the clock to the next task not later than `limit` and runs
  /// that task; the schedule chooses among them. Returns false if there is no such fiber or task.
  /// Do not call this function from a fiber.
  bool step(Instant limit = kNever);
  /// Whether a fiber is ready or a task is armed, at any future time.
  [[nodiscard]] bool anything_left();
  /// Marks the world as running in the current thread, while an object of this class exists. Calls
  /// from other threads are then refused (check_thread()).
  class Running {
   public:
    explicit Running(Scheduler& scheduler)
        : scheduler_(scheduler), before_(scheduler.thread_.load(std::memory_order_relaxed)) {
      scheduler_.thread_.store(this_thread(), std::memory_order_relaxed);
    }
    ~Running() { scheduler_.thread_.store(before_, std::memory_order_relaxed); }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    Scheduler& scheduler_;
    const void* before_;
  };
  /// Throws verbs::ForeignThread, after a message on stderr, if the world is running in another
  /// thread than the calling one. No effect while the world is not running.
  void check_thread() const {
    const void* const thread = thread_.load(std::memory_order_relaxed);
    if (thread != nullptr && thread != this_thread()) [[unlikely]]
      refuse_thread();
  }
  /// Sets the observer of choices; null, the default: no observer. The observer must outlive the
  /// scheduler.
  void set_choice_observer(ChoiceObserver* observer) { choice_observer_ = observer; }
  /// Sets the director, which chooses in place of the schedule; null, the default: no director. Set
  /// it before the first step. No effect with Policy::kFifo without branches.
  void set_director(Director* director) { director_ = director; }
  /// Returns all choices of the schedule that did not take the first candidate.
  [[nodiscard]] const std::vector<Deviation>& deviations() const { return chooser_.deviations(); }
  /// Returns the time of the next armed task; kNever: no task is armed.
  [[nodiscard]] Instant quiet_until();
  /// Moves the clock to `time` without running anything. Precondition: nothing is due before
  /// `time`.
  void skip_to(Instant time);

  /// Lets other work run, for programs that poll in a loop, then returns. For one microsecond (the
  /// cost of an empty poll), tasks that affect only other hosts (see concern()) do not count. If
  /// nothing else can happen, that time passes, and more after a thousand polls in a row. After an
  /// hour of virtual time with nothing but polls, step() returns false.
  void poll();
  /// Suspends the running fiber until something happens, or until `time`. The caller must check its
  /// condition again afterwards.
  void poll_until(Instant time);
  /// Lets all ready fibers run before the running fiber continues.
  void let_others_go_first();
  /// Whether a schedule chooses the order.
  [[nodiscard]] bool chooses() const { return chooser_.active(); }
  /// Marks a scheduling point (a verbs call or a lock) in the running fiber: the schedule may let
  /// other fibers and tasks run first. No effect in the default order and outside of fibers. If the
  /// fiber is killed during the call, the fiber continues until its next wait, as if there had been
  /// no scheduling point.
  void give_way();
  /// Returns at how many of its next scheduling points, at most `most`, the running fiber would go
  /// on at once if until then nothing happens in the world. 0 outside of fibers, in the default
  /// order, and with a director, which sees each point.
  [[nodiscard]] std::uint64_t points_to_pass(std::uint64_t most);
  /// Counts scheduling points that the running fiber has passed without give_way(). Precondition:
  /// not more than the last call of points_to_pass() returned, and nothing has run since.
  void pass_points(std::uint64_t count);
  /// Returns how many choices the schedule has made, also those with one candidate.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  /// Returns the seeds of the run, for its random streams.
  [[nodiscard]] const Seeds& seeds() const { return seeds_; }
  /// Returns the number of scheduling decisions so far that had several candidates.
  [[nodiscard]] std::uint64_t choices() const { return chooser_.points(); }
  /// Declares that the running task affects only the given host, so that polling programs of other
  /// hosts need not check again. A task that does not call this function counts as affecting all
  /// hosts.
  void concern(const Host& host) {
    concerns_more_ |= concerned_ != nullptr && concerned_ != &host;
    concerned_ = &host;
  }

  /// Stores the purpose of a wait outside of fibers that failed because nothing could happen any
  /// more. Reports show the purpose.
  void note_refusal(const char* purpose, const std::string& details);
  /// Returns the purpose that the last call of note_refusal() stored; empty: there was no call.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

  /// Suspends the running fiber until `time`. Outside of fibers, the calling thread runs the world
  /// until `time` instead. Returns false if the sleep was cancelled.
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
  /// Runs one fiber or task like step(), if the schedule chooses among several candidates. Returns
  /// false if there is no candidate.
  bool step_chosen(Instant limit);
  void gather_due();
  /// Gathers what the schedule may choose from into candidates_ and due_. `first`: a fiber that
  /// is a candidate though it is not in the list of ready ones; or null. Returns how many
  /// candidates are fibers.
  std::size_t gather_candidates(Instant limit, const Fiber* first);
  /// Asks the schedule, and the director if there is one.
  [[nodiscard]] std::size_t choose();

  std::atomic<const void*> thread_ = nullptr;
  Seeds seeds_;
  Chooser chooser_;
  Instant limit_ = kNever;  ///< of the step that runs
  std::uint64_t steps_ = 0;
  ChoiceObserver* choice_observer_ = nullptr;
  Director* director_ = nullptr;
  std::vector<std::uint64_t> candidates_;  ///< of step_chosen
  std::vector<verbs::Timer<Task*>*> due_;  ///< likewise
  std::vector<Candidate> directed_;        ///< likewise
  Instant now_{};
  std::uint64_t events_ = 0;
  Duration in_vain_{};  ///< virtual time in which only empty polls have happened
  verbs::TimerQueue<Task*> queue_;
  boost::intrusive::list<Settler, boost::intrusive::constant_time_size<false>> unsettled_;
  FiberList pollers_;
  const Host* concerned_ = nullptr;  ///< by the running task
  bool concerns_more_ = false;       ///< more than that host
  Fibers fibers_;
  std::string refusal_;
};

}  // namespace anyrdma::sim
