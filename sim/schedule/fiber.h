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

/// Whether World::run() may succeed while a fiber still waits.
enum class Ending : unsigned char {
  kMustEnd,   ///< it waits for something that was meant to happen
  kMayServe,  ///< it is a server, which waits without end
};

/// A fiber (user-space thread), owned by Fibers, that exists until its body has returned. A fiber
/// is in one list at a time: the list of ready fibers, or a list of fibers that wait for the same
/// thing.
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
  /// Returns in a few words what the fiber waits for; since() returns since when. Valid
  /// only while the fiber waits.
  [[nodiscard]] const char* purpose() const { return purpose_; }
  [[nodiscard]] verbs::Instant since() const { return since_; }
  /// Returns more lines about what the fiber waits for. Call it only while the fiber waits.
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
  /// Called when a fiber continues after a wait. purpose() and the start of the wait are still
  /// valid. The function must not call the Fibers object.
  virtual void on_waited(const Fiber& fiber) = 0;
};

/// Runs fibers (user-space threads) one at a time, in the order in which they became ready. Each
/// fiber has an errno of its own, as threads have. Single-threaded.
class Fibers {
 public:
  explicit Fibers(std::size_t stack_bytes) : stacks_(stack_bytes) {}
  /// All fibers must have ended: see close.
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  /// Adds a fiber that is ready to run. May be called from a fiber. If `process` is not null, the
  /// fiber belongs to that process until its body has returned; the last fiber of a process ends
  /// the process.
  Fiber& spawn(std::string name, Ending ending, std::function<void()> body, Host* host = nullptr,
               std::shared_ptr<Process> process = nullptr);
  /// Returns the fiber that runs in this OS thread, whichever Fibers object owns it; null: the
  /// thread runs no fiber.
  [[nodiscard]] static Fiber* running();
  /// Returns the running fiber of this object; null: no fiber runs.
  [[nodiscard]] Fiber* current() const { return current_; }
  [[nodiscard]] bool any_ready() const { return !ready_.empty(); }
  /// Suspends the running fiber, at the end of the list `waiters`, until wake() is called. Returns
  /// false if the wait was cancelled. `purpose` and `details` say for reports what the fiber waits
  /// for, and must outlive the wait.
  [[nodiscard]] bool park(FiberList& waiters, const char* purpose, verbs::Instant now,
                          const std::function<std::string()>* details = nullptr);
  /// Where a fiber that lets other fibers run first is put in the list of ready fibers.
  enum class Place : std::uint8_t { kFirst, kLast };
  void give_way(Place place = Place::kFirst);
  /// Returns since when the longest-ready fiber has been ready; nullopt: no fiber is ready. Call
  /// this function each time before virtual time advances: a fiber counts as ready since the first
  /// call that finds it ready.
  [[nodiscard]] std::optional<verbs::Instant> longest_ready(verbs::Instant now);
  /// Makes a waiting fiber ready. If hold() was called for the fiber's host, this takes effect when
  /// release() is called.
  void wake(Fiber& fiber);
  /// Pauses the fibers of a host until release(); calls of wake() take effect then. Do not call
  /// this function from a fiber of the host.
  void hold(const Host& host);
  void release(const Host& host);
  /// Stops a fiber until go_on(), whether or not hold() was called for its host. Returns false if
  /// the fiber was already stopped.
  bool stop(Fiber& fiber);
  bool go_on(Fiber& fiber);
  /// Ends the fibers of a host: they do not run again, and reports do not list them as waiting.
  /// close() later unwinds their stacks, so that objects on them are destroyed. Do not call this
  /// function from a fiber of the host.
  void abandon(const Host& host);
  /// Ends the fibers of a process: when each runs next, its stack is unwound without waiting.
  /// Returns false if the process has no fibers. Do not call this function from a fiber of the
  /// process.
  bool kill(const Process& process);
  /// Runs the next ready fiber until it waits or ends. Returns false if no fiber is ready. If the
  /// fiber's body throws an exception, the exception is passed on to the caller.
  bool run_one();
  /// Returns the fibers that can run, in the order in which they became ready.
  [[nodiscard]] const FiberList& ready() const { return ready_; }
  /// Runs the n-th ready fiber, from 0, until it waits or ends. Precondition: there is such a
  /// fiber.
  void run_nth(std::size_t n);
  /// All fibers that have not ended, in the order of creation.
  [[nodiscard]] const std::vector<std::unique_ptr<Fiber>>& all() const { return fibers_; }

  /// Sets the observer that is called after each wait of a fiber; null, the default: no observer.
  /// The observer must outlive the fibers, or be replaced by null before.
  void set_wait_observer(WaitObserver* observer) { wait_observer_ = observer; }

  /// Cancels every present and future wait, and runs all fibers until their bodies have returned.
  /// Exceptions of the bodies are ignored.
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
  /// Makes a fiber ready, unless it waits, it is stopped, or its host is on hold.
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
