// The programs of a run under gdb: the supervisor's hook on one side, gdb's view of threads and
// memory on the other.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "recording/tape.h"
#include "recording/view/story.h"
#include "sim/debug/cluster/destination.h"
#include "sim/debug/cluster/listing.h"
#include "sim/debug/cluster/patches.h"
#include "sim/debug/cluster/position.h"
#include "sim/debug/session/session.h"
#include "sim/debug/session/target.h"
#include "sim/programs/supervisor/debugger.h"
#include "sim/programs/supervisor/sandbox.h"
#include "verbs/time.h"

namespace anyrdma::sim::programs {
struct Process;
}

namespace anyrdma::sim::debug {

/// How watchpoints find writes.
enum class Watching : std::uint8_t {
  kBest,       ///< by the processor's debug registers if they work, else by comparing
  kComparing,  ///< the value is compared at each stop; a new run finds the instruction
};

/// All programs of a run, and of further runs of the same trial in which the debugger goes back.
/// Belongs to the thread of the simulation. A run needs it until the run is destroyed.
class Cluster final : public programs::Debugger, public Target {
 public:
  explicit Cluster(std::unique_ptr<Connection> connection, Watching watching = Watching::kBest);

  /// Before each run: takes the recording of it.
  void record_on(std::shared_ptr<const recording::Tape> tape) { tape_ = std::move(tape); }
  /// After a run: whether the trial is to be run once more, from its beginning.
  [[nodiscard]] bool runs_again();
  /// The run is over, and what is to be said of it has been said: answers gdb until it leaves.
  void end();
  /// gdb has ended the run.
  [[nodiscard]] bool killed() const { return killed_; }
  /// Whether gdb's user has added a fault to this run, so that the run is not that of its trial.
  [[nodiscard]] bool has_left_path() const { return has_left_path_; }

  // --- for the supervisor -----------------------------------------------------------------------
  void begin(programs::Sandbox& sandbox) override;
  [[nodiscard]] tracee::Stop run(programs::Thread& thread, int signal) override;
  [[nodiscard]] tracee::Stop step(programs::Thread& thread) override;
  [[nodiscard]] int on_signal(programs::Thread& thread, int signal) override;
  void on_program(programs::Thread& thread) override;
  [[nodiscard]] bool wants_stop() override;
  void look() override;
  void on_failure(std::string_view why) override;
  [[nodiscard]] bool ends_run() const override { return killed_ || again_; }

  // --- for the session --------------------------------------------------------------------------
  [[nodiscard]] std::vector<ThreadEntry> threads() override;
  [[nodiscard]] bool read_memory(std::int64_t process, std::uint64_t address,
                                 std::span<std::byte> into) override;
  [[nodiscard]] bool write_memory(std::int64_t process, std::uint64_t address,
                                  std::span<const std::byte> from) override;
  [[nodiscard]] std::optional<std::string> registers(const ThreadId& id) override;
  [[nodiscard]] bool set_registers(const ThreadId& id, std::string_view bytes) override;
  [[nodiscard]] std::string signal_info(const ThreadId& id) override;
  [[nodiscard]] std::string executable(std::int64_t process) override;
  [[nodiscard]] std::string auxiliary_vector(std::int64_t process) override;
  [[nodiscard]] bool insert(std::int64_t process, const Point& point) override;
  void remove(std::int64_t process, const Point& point) override;
  void kill(std::int64_t process) override;
  void detach(std::int64_t process) override;
  [[nodiscard]] std::string monitor(std::string_view command) override;

 private:
  /// A search by single steps over more than these ends where it is.
  static constexpr std::uint64_t kStepsMax = 10'000'000;
  using Values = std::map<Point, std::string>;
  /// A process in this run.
  struct Debuggee {
    programs::Process* process = nullptr;
    std::int64_t number = 0;
    unsigned image = 0;  ///< how many programs it has run
    Patches patches{};
    bool stale = true;        ///< the patches may not be as they are wanted
    bool visible = false;     ///< gdb has heard of it
    bool is_other = false;    ///< it runs another program than gdb knows
    bool has_copied = false;  ///< it began as a copy of another one
    Values values{};          ///< of watched memory
  };
  /// A thread in this run.
  struct Known {
    programs::Thread* thread = nullptr;
    Debuggee* process = nullptr;
    Position position{};
    std::optional<std::uint64_t> passed{};  ///< it is at this breakpoint, which has been noted
    bool maps = false;                      ///< its last call may map code
    std::set<Point> armed{};                ///< in its debug registers
    Values before{};                        ///< of watched memory, when it went on
    std::optional<Values> left{};           ///< when it stopped somewhere that no position names
    std::size_t moves_done = 0;             ///< of the way that it is led
    std::uint64_t steps_done = 0;           ///< of the next move
  };
  /// Identifies a process and the program that it runs.
  using Place = std::pair<std::int64_t, unsigned>;
  struct Wanted {
    std::set<std::uint64_t> code;
    std::set<Point> memory;
  };
  struct Event {
    std::optional<tracee::Stop> stop{};  ///< it is the supervisor's
    bool stepped = false;
    std::optional<std::uint64_t> at{};  ///< a breakpoint
    std::optional<Point> watched{};
    /// Its value is another one than where the thread went on.
    std::optional<Point> between{};
    bool interrupted = false;
    bool lifted = false;  ///< it has only left a breakpoint
  };
  /// The purpose of this run.
  enum class Goal : std::uint8_t {
    kLive,     ///< gdb's user is there
    kBegin,    ///< to stop at the beginning, since nothing was before
    kCount,    ///< to count the hits before `way_`
    kSeek,     ///< to stop at hit number `sought_`
    kArrive,   ///< to stop at `way_`
    kMeasure,  ///< to count instructions from `way_` on until `until_` comes
    kFind,     ///< to step from `way_` on, until watched memory changes
    kTime,     ///< to stop at `time_`, in one of `doers_`
    kSurvey,   ///< to have the whole recording, which numbers the records
    kFailure,  ///< to stop where the run fails
  };

  [[nodiscard]] tracee::Stop go(programs::Thread& thread, int signal, bool one);
  [[nodiscard]] Event resume(Known& it, bool step, int signal);
  [[nodiscard]] Event go_on(Known& it, bool step, int signal);
  void pass(Known& it, const tracee::Stop& stop);
  [[nodiscard]] bool before(Known& it);
  void announce(const Known& it);
  [[nodiscard]] bool show_libraries();
  [[nodiscard]] bool act(Known& it, const Event& event, bool one);
  int serve(const Stopped& stopped);
  void leave_alone();
  [[nodiscard]] Known& meet(programs::Thread& thread);
  [[nodiscard]] Debuggee& debuggee(programs::Process& process);
  [[nodiscard]] Debuggee* find(std::int64_t number);
  [[nodiscard]] programs::Thread* find(const ThreadId& id);
  [[nodiscard]] std::int64_t number_of(const programs::Process& process) const;
  [[nodiscard]] ThreadId id_of(const programs::Thread& thread) const;
  [[nodiscard]] Wanted& wanted(const Debuggee& it) { return points_[{it.number, it.image}]; }
  void sync(Known& it);
  void arm(Known& it);
  [[nodiscard]] std::optional<Point> triggered(Known& it);
  [[nodiscard]] bool changed(Debuggee& it, const tracee::Tracee& thread, const Point& point);
  [[nodiscard]] bool is_watch_hit(Known& it, const Event& event);
  [[nodiscard]] const Action* action_of(const ThreadId& id) const;
  [[nodiscard]] programs::Thread* any_thread();

  // --- watching without debug registers (comparing.cc) -------------------------------------------
  [[nodiscard]] bool compares() const;
  [[nodiscard]] bool refuses(const Point& point);
  [[nodiscard]] Values values_of(Known& it);
  void begin_interval(Known& it);
  void end_interval(Known& it, Event& event, bool is_noted);
  [[nodiscard]] bool take_change(const Known& it, const Position& start, const Event& event);
  void find_change(const Position& start, const Event& event, bool first);
  [[nodiscard]] bool look_for_change(const Known& it, const Event& event);
  void finish_find();

  // --- going elsewhere (travel.cc) --------------------------------------------------------------
  void go_back(const ThreadId& from);
  void finish_count();
  [[nodiscard]] bool is_counted_to_now() const {
    return counts_by_time_ && sandbox_->world().now() >= time_;
  }
  void step_back(const Position& from);
  void run_again(Goal goal);
  [[nodiscard]] bool is_led(const Known& it) const;
  [[nodiscard]] const Move* next_move(const Known& it) const;
  [[nodiscard]] bool follow(Known& it, const Event& event);
  void arrive(Known& it);
  void count_hit(Known& it, const Event& event);
  [[nodiscard]] bool is_time_of(const Known& it);
  void note(Known& it, const Event& event);

  // --- the recording (records.cc) ---------------------------------------------------------------
  [[nodiscard]] recording::Story story_so_far() const;
  [[nodiscard]] std::string go_to(const Destination& to);
  [[nodiscard]] std::string no_record(std::uint64_t number) const;
  void go_to_record();
  [[nodiscard]] bool looks_further();
  void stop_before_record(std::uint64_t run);
  [[nodiscard]] programs::Thread* first_doer();
  [[nodiscard]] std::string add_fault(std::string_view action);
  [[nodiscard]] std::string write_recording(const std::string& path) const;

  std::unique_ptr<Connection> connection_;
  Session session_;
  Watching watching_;
  bool has_said_how_ = false;  ///< that values are compared
  bool alone_ = false;         ///< gdb is gone
  bool killed_ = false;        ///< the run
  bool again_ = false;         ///< the trial is to be run again
  bool begun_ = false;         ///< gdb has seen the beginning
  bool interrupt_ = false;
  bool over_ = false;     ///< there is no run
  bool outside_ = false;  ///< no thread has the turn
  std::map<Place, Wanted> points_;
  std::set<std::int64_t> detached_;
  std::set<Place> announced_;  ///< gdb has been told of these, in this run or an earlier one
  std::vector<Action> actions_;

  Goal goal_ = Goal::kLive;
  Position way_{};
  Move until_{};
  bool until_call_ = false;  ///< instead: until the next call
  bool reports_watch_ = false;
  Point watch_{};
  std::uint64_t hits_ = 0;
  std::uint64_t sought_ = 0;
  std::uint64_t measured_ = 0;
  bool measuring_ = false;
  bool finds_first_ = false;                   ///< change; else the last one
  std::uint64_t found_ = 0;                    ///< the step that made it; 0: none
  std::optional<std::uint64_t> find_until_{};  ///< this breakpoint, or a call or signal
  bool counts_by_time_ = false;                ///< until `time_`, instead of `way_`
  verbs::Instant time_{};
  Doers doers_{};
  std::optional<std::uint64_t> record_{};    ///< to go to
  std::optional<std::uint64_t> last_run_{};  ///< of a doer: to stop then, whatever the time is
  std::optional<recording::Story> story_{};  ///< of a whole run of the trial
  std::string news_{};                       ///< for gdb's user, when the programs stop
  std::optional<Goal> next_goal_{};          ///< when gdb lets the programs go on

  // Of this run.
  programs::Sandbox* sandbox_ = nullptr;
  std::shared_ptr<const recording::Tape> tape_;
  bool has_left_path_ = false;
  bool has_written_ = false;  ///< gdb's user has changed something, which a new run does not have
  std::uint64_t doer_runs_ = 0;  ///< so often has a doer gone on
  std::map<const programs::Process*, std::unique_ptr<Debuggee>> processes_;
  std::map<const programs::Thread*, std::unique_ptr<Known>> threads_;
  std::map<pid_t, Patches> copied_;  ///< what a new process has of the one that made it
  programs::Thread* last_ = nullptr;
  ThreadId last_id_{1, 1};
};

}  // namespace anyrdma::sim::debug
