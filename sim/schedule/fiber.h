// Fibers: blocking application code of many hosts in one OS thread.
#pragma once

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/schedule/sanitizer_fiber.h"
#include "verbs/time.h"

namespace anyrdma::sim {

class Fibers;
class Host;
class Process;

/// Whether the simulation may come to rest while a fiber still waits.
enum class Ending : unsigned char {
  kMustEnd,   ///< it waits for something that was meant to happen
  kMayServe,  ///< it is a server, which waits without end
};

/// A user-space thread. Owned by Fibers; ends with its body. It is in one list at a time: that of
/// ready fibers, or of fibers that wait for the same thing.
class Fiber : public boost::intrusive::list_base_hook<
                  boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Ending ending() const { return ending_; }
  /// The host whose program it runs; null: none.
  [[nodiscard]] Host* host() const { return host_; }
  [[nodiscard]] bool parked() const { return parked_; }
  /// Which of that host's processes it belongs to; null: none.
  [[nodiscard]] const std::shared_ptr<Process>& process() const { return process_; }
  /// Fibers::hold, stop and abandon.
  [[nodiscard]] bool held() const { return held_; }
  [[nodiscard]] bool stopped() const { return stopped_; }
  [[nodiscard]] bool abandoned() const { return abandoned_; }
  /// The reason of its wait, in a few words, and the start of the wait. Only while parked.
  [[nodiscard]] const char* purpose() const { return purpose_; }
  [[nodiscard]] verbs::Instant since() const { return since_; }
  /// More of that, in whole lines. Only while parked.
  [[nodiscard]] std::string details() const {
    return details_ == nullptr || !*details_ ? std::string() : (*details_)();
  }
  /// From 1, in the order of creation.
  [[nodiscard]] std::uint64_t number() const { return number_; }

 private:
  friend class Fibers;
  Fiber(std::string name, Ending ending, std::function<void()> body, Host* host)
      : name_(std::move(name)), ending_(ending), body_(std::move(body)), host_(host) {}

  std::string name_;
  Ending ending_;
  std::function<void()> body_;
  Host* host_;
  std::shared_ptr<Process> process_;
  int errno_value_ = 0;            ///< the C library's errno while it does not run
  boost::context::fiber context_;  ///< where to resume it; empty while it runs
  boost::context::fiber caller_;   ///< where to go back to
  boost::context::stack_context stack_;
  SanitizerFiber sanitizer_;
  bool started_ = false;
  bool parked_ = false;
  bool held_ = false;
  bool stopped_ = false;
  bool abandoned_ = false;
  bool killed_ = false;
  bool cancelled_ = false;
  unsigned refusals_ = 0;  ///< waits refused since the fibers were closed
  const char* purpose_ = "";
  const std::function<std::string()>* details_ = nullptr;
  std::uint64_t number_ = 0;
  verbs::Instant since_{};
  std::optional<verbs::Instant> ready_since_{};  ///< since longest_ready() saw it ready
};

using FiberList = boost::intrusive::list<Fiber, boost::intrusive::constant_time_size<false>>;

/// Observes the ends of waits.
class WaitObserver {
 public:
  virtual ~WaitObserver() = default;
  /// Called when the fiber goes on; it still has the reason and start of its wait. Must not call
  /// back.
  virtual void on_waited(const Fiber& fiber) = 0;
};

/// Runs fibers one at a time, in the order in which they became ready. Each has an errno of its
/// own, as threads have. Single-threaded.
class Fibers {
 public:
  explicit Fibers(std::size_t stack_bytes) : stacks_(stack_bytes) {}
  /// All fibers must have ended: see close.
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  /// Adds a fiber that is ready to run. It may be called from inside a fiber.
  /// With a process it is one of its fibers until its body has ended: the last one to leave ends
  /// it, in its own name.
  Fiber& spawn(std::string name, Ending ending, std::function<void()> body, Host* host = nullptr,
               std::shared_ptr<Process> process = nullptr);
  /// The fiber that runs in this thread, of whichever Fibers; null outside of all.
  [[nodiscard]] static Fiber* running();
  /// The running fiber; null outside of all.
  [[nodiscard]] Fiber* current() const { return current_; }
  [[nodiscard]] bool any_ready() const { return !ready_.empty(); }
  /// Stops the running fiber, at the end of `waiters`, until it is woken. False: it was cancelled.
  /// `purpose` and `details` outlive the wait.
  [[nodiscard]] bool park(FiberList& waiters, const char* purpose, verbs::Instant now,
                          const std::function<std::string()>* details = nullptr);
  /// Stops the running fiber although it need not wait: it is the first of those that are ready, or
  /// the last.
  enum class Place : std::uint8_t { kFirst, kLast };
  void give_way(Place place = Place::kFirst);
  /// Since when the fiber has been ready that has been so for the longest; nullopt: none is ready.
  /// To be asked whenever time may move: a fiber counts as ready from the first time on.
  [[nodiscard]] std::optional<verbs::Instant> longest_ready(verbs::Instant now);
  /// Makes a parked fiber ready, once it is not held any more.
  void wake(Fiber& fiber);
  /// A host's fibers do not run until they are released; wake-ups meanwhile are kept. Do not call
  /// it from one of them.
  void hold(const Host& host);
  void release(const Host& host);
  /// Stops one fiber, independent of its host. False: it was already in that state.
  bool stop(Fiber& fiber);
  bool go_on(Fiber& fiber);
  /// Ends a host's fibers: they never run again and are not reported as waiting. Those that have
  /// begun are unwound in close(), so that objects on their stacks are destroyed. Do not call it
  /// from one of them.
  void abandon(const Host& host);
  /// Ends a process's fibers: when they are run next, their stacks are unwound without waiting.
  /// False: it has none. Do not call it from one of them.
  bool kill(const Process& process);
  /// Runs the next ready fiber until it parks or ends. False: none is ready. An exception that the
  /// body lets out leaves here.
  bool run_one();
  /// The fibers that can run, in the order in which they became ready.
  [[nodiscard]] const FiberList& ready() const { return ready_; }
  /// As run_one, for the n-th of them from 0. Precondition: there is one.
  void run_nth(std::size_t n);
  /// All fibers that have not ended, in the order of creation.
  [[nodiscard]] const std::vector<std::unique_ptr<Fiber>>& all() const { return fibers_; }

  /// Null by default. It must outlive the fibers or be set to null before.
  void set_wait_observer(WaitObserver* observer) { wait_observer_ = observer; }

  /// Cancels every wait, also those to come, and runs all fibers to their ends. Exceptions of
  /// bodies are lost.
  void close();
  [[nodiscard]] bool closed() const { return closed_; }

 private:
  boost::context::fiber enter(Fiber& fiber, boost::context::fiber&& caller);
  void run(Fiber& fiber);
  void switch_to(Fiber& fiber);
  /// Leaves the running fiber until it is run again.
  void switch_back(Fiber& fiber);
  void retire(Fiber& fiber);
  void cancel(Fiber& fiber);
  /// Nothing keeps it from running any more, perhaps.
  void ready_again(Fiber& fiber);
  [[nodiscard]] boost::context::stack_context take_stack();

  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::uint64_t spawned_ = 0;
  FiberList ready_;
  Fiber* current_ = nullptr;
  WaitObserver* wait_observer_ = nullptr;
  bool closed_ = false;
  std::exception_ptr thrown_;
  boost::context::protected_fixedsize_stack stacks_;
  std::vector<boost::context::stack_context> free_stacks_;
  SanitizerThread sanitizer_thread_;
};

}  // namespace anyrdma::sim
