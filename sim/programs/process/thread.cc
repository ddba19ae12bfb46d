#include "sim/programs/process/thread.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "sim/points/mark_call.h"
#include "sim/programs/kernel/signals.h"
#include "sim/programs/process/process.h"
#include "sim/programs/supervisor/blocked_call.h"
#include "sim/programs/supervisor/sandbox.h"
#include "sim/programs/syscalls/system_calls.h"
#include "sim/tracee/auxiliary_vector.h"
#include "sim/tracee/state_print.h"
#include "transport/realtime/point_call.h"

namespace anyrdma::sim::programs {

using tracee::Stop;
using tracee::StopKind;

namespace {

/// Apart from what stepping itself leaves in the flags.
bool same(const user_regs_struct& a, const user_regs_struct& b) {
  constexpr unsigned long long kOfResults = 0xcd5;
  return ((a.eflags ^ b.eflags) & kOfResults) == 0 && a.rip == b.rip && a.rsp == b.rsp &&
         a.rbp == b.rbp && a.rax == b.rax && a.rbx == b.rbx && a.rcx == b.rcx && a.rdx == b.rdx &&
         a.rsi == b.rsi && a.rdi == b.rdi && a.r8 == b.r8 && a.r9 == b.r9 && a.r10 == b.r10 &&
         a.r11 == b.r11 && a.r12 == b.r12 && a.r13 == b.r13 && a.r14 == b.r14 && a.r15 == b.r15;
}

/// What one more look costs, in terms of the first.
unsigned growing(unsigned looks) {
  constexpr unsigned kLooksPerStep = 16;
  constexpr unsigned kStepsMax = 8;
  return 1u << std::min(looks / kLooksPerStep, kStepsMax);
}

}  // namespace

/// Wakes a thread whose time is over.
class Thread::Alarm final : public Task {
 public:
  explicit Alarm(Thread& thread) : thread_(thread) {}

 private:
  void run() override { thread_.wake(Woken::kTimeout); }
  [[nodiscard]] std::string what() override {
    return "the time is over for which " + thread_.name() + " waits";
  }

  Thread& thread_;
};

Thread::Thread(Sandbox& sandbox, Process& process, std::string name, pid_t tid, bool is_new)
    : sandbox_(sandbox), process_(process), name_(std::move(name)), tracee_(tid), is_new_(is_new) {}

Instant Thread::now() const {
  return process_.host->runtime().now();
}

// --- waiting ------------------------------------------------------------------------------------

Woken Thread::wait(const char* purpose, std::optional<Instant> deadline) {
  return wait_for({}, purpose, deadline);
}

Woken Thread::wait_for(std::vector<Watched> watched, const char* purpose,
                       std::optional<Instant> deadline) {
  if (over_) return Woken::kOver;
  watched_ = std::move(watched);
  if (!watched_.empty()) sandbox_.watch(*this);
  // Who was ready when it was woken may have been forestalled by the time its turn comes.
  do {
    woken_ = park(purpose, deadline);
  } while (woken_ == Woken::kReady && !watched_.empty() && !has_ready());
  if (!watched_.empty()) sandbox_.unwatch(*this);
  watched_.clear();
  if (woken_ == Woken::kOver) over_ = true;
  return woken_;
}

Woken Thread::park(const char* purpose, std::optional<Instant> deadline) {
  Scheduler& scheduler = sandbox_.world().scheduler();
  parking_ = true;
  ready_ = false;
  sandbox_.end_turn();
  parking_ = false;
  // What has come in meanwhile may be for this very thread.
  if (ready_) return Woken::kReady;
  Alarm alarm(*this);
  if (deadline) scheduler.at(alarm, scheduler.now() + (*deadline - now()));
  waits_ = true;
  vain_looks_ = 0;
  const std::function<std::string()> details = [this] { return describe(); };
  const bool woken = scheduler.fibers().park(sleeper_, purpose, scheduler.now(), &details);
  waits_ = false;
  scheduler.cancel(alarm);
  return woken ? woken_ : Woken::kOver;
}

Woken Thread::wait_for_child() {
  for_child_ = true;
  const Woken woken = wait("a child to end");
  for_child_ = false;
  return woken;
}

void Thread::wake(Woken why) {
  if (!waits_ || sleeper_.empty()) return;  // somebody was faster
  waits_ = false;  // who is woken to no avail would take a wake from another
  woken_ = why;
  sandbox_.world().scheduler().fibers().wake(sleeper_.front());
}

void Thread::on_ready() {
  if (parking_) {
    ready_ = true;
  } else {
    wake(Woken::kReady);
  }
}

bool Thread::has_ready() const {
  return any_ready(*this, watched_);
}

void Thread::yield() {
  if (over_) return;
  sandbox_.end_turn();
  sandbox_.world().scheduler().poll();
  if (sandbox_.world().scheduler().fibers().closed()) over_ = true;
}

void Thread::spin(int share) {
  // As many as a hand-over among a few threads takes: no time passes.
  constexpr unsigned kForNothing = 16;
  constexpr Duration kFirst = std::chrono::microseconds(1);
  if (over_) return;
  sandbox_.end_turn();
  Scheduler& scheduler = sandbox_.world().scheduler();
  if (spins_++ == 0) spins_since_ = scheduler.now();
  if (spins_ <= kForNothing) {
    scheduler.let_others_go_first();
  } else {
    const Duration waited = scheduler.now() - spins_since_;
    scheduler.poll_until(scheduler.now() + std::max(kFirst, waited / share));
  }
  if (scheduler.fibers().closed()) over_ = true;
}

bool Thread::give_way() {
  Scheduler& scheduler = sandbox_.world().scheduler();
  if (over_) return false;
  if (!scheduler.chooses()) return true;
  sandbox_.end_turn();
  scheduler.give_way();
  if (scheduler.fibers().closed()) over_ = true;
  return !over_;
}

bool Thread::spend(Duration duration) {
  if (over_) return false;
  sandbox_.end_turn();
  if (!process_.host->sleep(duration)) over_ = true;
  return !over_;
}

std::optional<long> Thread::finish_call() {
  const Stop stop = sandbox_.run_to_return(*this);
  if (stop.kind == StopKind::kReturn) return tracee_.result();
  handle(stop);
  return std::nullopt;
}

Duration Thread::cost_of_look() {
  return sandbox_.options().call_cost * growing(looks_++);
}

Duration Thread::cost_of_reading() const {
  return sandbox_.options().call_cost * growing(looks_);
}

void Thread::note_readings(std::uint64_t readings) {
  looks_ += static_cast<unsigned>(readings);
}

bool Thread::look_in_vain() {
  // As everybody does who takes all there is.
  constexpr unsigned kForNothing = 4;
  if (++vain_looks_ <= kForNothing) return true;
  return spend(sandbox_.options().call_cost * growing(vain_looks_ - kForNothing));
}

bool Thread::pay_for_calls() {
  if (!owes_for_calls()) return true;
  return spend(sandbox_.options().call_cost * std::exchange(unpaid_calls_, 0));
}

Descriptor Thread::borrow(int fd) const {
  return Descriptor(static_cast<int>(::syscall(SYS_pidfd_getfd, process_.pidfd.get(), fd, 0)));
}

// --- running ------------------------------------------------------------------------------------

void Thread::live(Duration delay) {
  if (delay != Duration::zero()) (void)spend(delay);
  if (is_new_) handle(sandbox_.await(*this));
  while (!over_) handle(sandbox_.run(*this, std::exchange(signal_, 0)));
  sandbox_.end_turn();
}

void Thread::handle(const Stop& stop) {
  // When somebody looks after it is the machine's to say, and must not show.
  if (stop.kind != StopKind::kStarted) {
    sandbox_.close_pages();
    opens_in_kernel_ = false;
  }
  switch (stop.kind) {
    case StopKind::kCall:
      return on_call();
    case StopKind::kSignal:
      return on_signal(stop.detail);
    case StopKind::kNewThread:
      return sandbox_.on_new_thread(*this, stop.detail);
    case StopKind::kNewProcess:
      (void)sandbox_.on_new_process(*this, stop.detail);
      return;
    case StopKind::kVfork:
      return lend_memory(stop.detail);
    case StopKind::kProgram:
      return on_program();
    case StopKind::kEnding:
      return sandbox_.end(*this, stop.detail);
    case StopKind::kGone:
      return on_gone(stop.detail);
    case StopKind::kStarted:
      if (std::exchange(is_new_, false)) return;
      return on_interrupted();
    case StopKind::kReturn:
    case StopKind::kVforkOver:
    case StopKind::kGroupStop:
      return;
  }
}

/// Until the child has a program of its own, or is gone: vfork(2). No signal comes before.
void Thread::lend_memory(pid_t child) {
  sandbox_.on_new_process(*this, child).lender = this;
  lends_ = true;
  tracee_.run();
  while (lends_ && !over_) (void)wait("its vfork child to execute a program or exit");
}

void Thread::on_memory_back() {
  lends_ = false;
  wake(Woken::kReady);
}

/// Whether it writes lines to standard output: no other program sees them, so how a program is
/// buffered changes nothing of the run but the times of its lines.
bool Thread::is_printing(const tracee::Call& call) const {
  constexpr std::uint64_t kBytesMax = 4096;  // for which the pipe has room
  return call.number == SYS_write && call.arguments[0] == STDOUT_FILENO &&
         call.arguments[2] <= kBytesMax && sandbox_.is_output(*this, call.arguments[0]);
}

void Thread::on_call() {
  // Who prints over and over is to let others go on.
  constexpr unsigned kPrintsForNothing = 64;
  const auto call = tracee_.call();
  if (!call) return;
  if (!std::exchange(repeats_, false) || call->number != call_.number) {
    retries_.reset();
    call_limit_.reset();
  }
  call_ = *call;
  // Questions and reports depend on observers, and steps on the machine: neither must show.
  const bool prints = is_printing(*call);
  const bool aside = is_aside(call->number) || (prints && ++prints_ % kPrintsForNothing != 0);
  const bool is_point =
      call->number == transport::realtime::kPointCall || call->number == kGuardCall;
  if (!aside) {
    interruptions_ = 0;
    used_at_call_.reset();
  }
  if (sandbox_.options().on_call) {
    const std::string name =
        process_.host->name() + "/" + process_.name + "[" + std::to_string(tid()) + "]";
    sandbox_.options().on_call(sandbox_.world().now(), name, describe());
  }
  if (!aside && (!pay_for_calls() || !give_way())) return;
  const unsigned looks = looks_;
  const Outcome outcome = make_call(*this, *call);
  if (outcome.kind == Outcome::Kind::kMade) {
    sandbox_.note_call_in_kernel();
    if (!aside) ++unpaid_calls_;
  }
  if (prints && outcome.kind == Outcome::Kind::kMade && !over_) {
    (void)finish_call();
    sandbox_.read_output();
    return;
  }
  if (looks_ == looks && !aside && !is_point) looks_ = 0;
  if (!aside && !is_point && call->number != SYS_sched_yield) spins_ = 0;
  if (outcome.kind != Outcome::Kind::kAnswered || over_) return;
  tracee_.answer(outcome.result);
  // Whom this call has woken may go on before its caller does. A point wakes no thread.
  if (!aside && !is_point) (void)give_way();
}

/// One instruction further. False: something else has happened, and has been taken care of.
bool Thread::advance() {
  const Stop stop = sandbox_.step(*this);
  if (stop.kind == StopKind::kSignal && stop.detail == SIGTRAP) return !over_;
  handle(stop);
  return false;
}

/// Steps until it is at the same instruction with the same registers again: how many steps that
/// were; 0: too many. nullopt: something else has happened.
std::optional<unsigned> Thread::go_round() {
  // A long loop shows when the thread has been seen for a while.
  constexpr unsigned kFirstSteps = 512;
  constexpr unsigned kDoublingsMax = 4;
  const unsigned steps = kFirstSteps << std::min(interruptions_, kDoublingsMax);
  const auto first = tracee_.registers();
  bool moved = false;
  for (unsigned i = 0; first && i < steps; ++i) {
    if (!advance()) return std::nullopt;
    const auto now = tracee_.registers();
    if (!now) return std::nullopt;
    // The first step after an interruption may stay where it is.
    const bool is_first = same(*first, *now);
    if (moved && is_first) return i + 1;
    moved |= !is_first;
  }
  return moved ? 0 : 1;
}

/// It has been long without a call. If it goes round a loop that leaves registers and memory as
/// they were, it waits for memory to change; to let others go on anywhere in such a loop is the
/// same. A computation never does, and is not disturbed: how long it takes, and so when somebody
/// looks after it, is the machine's to say.
void Thread::on_interrupted() {
  constexpr unsigned kPatienceMax = 64;
  constexpr unsigned kInterruptionsMax = 40;
  if (sandbox_.is_interrupted()) return yield();
  if (wait_to_open() || wait_for_kernel()) return;
  if (computes_for_ever()) {
    sandbox_.note_overrun(*this);
    (void)wait("its own end (it computes)");
    return;
  }
  const auto length = go_round();
  if (!length) return;
  if (*length != 0) {
    const auto before = tracee::state_print(tid());
    const auto again = go_round();
    if (!again) return;
    if (*again != 0 && before && before == tracee::state_print(tid())) {
      patience_ = 1;
      return wait_in_loop(*again);
    }
  }
  patience_ = std::min(2 * patience_, kPatienceMax);
  if (++interruptions_ < kInterruptionsMax) return;
  sandbox_.remark(
      process_.name +
      " computes for seconds without a system call: other threads run meanwhile, and the run may "
      "be irreproducible");
  spin();
}

/// Where it has been interrupted opening a file, which the kernel does again: when the other end is
/// there, or a signal has come. False: it was doing something else.
bool Thread::wait_to_open() {
  const auto registers = tracee_.registers();
  const auto call = registers ? opening_by(*registers) : std::nullopt;
  if (!call) return false;
  call_ = *call;
  opened_ = NamedPipe::opened_by(tracee_, *call);
  opens_in_kernel_ = !opened_;
  if (!opened_) return true;
  sandbox_.watch_opening(*this);
  (void)wait("the other end of a named pipe to be opened");
  sandbox_.unwatch_opening(*this);
  opened_.reset();
  return true;
}

bool Thread::finish_opening() {
  if (!opened_ || !opened_->has_partner()) return false;
  const Descriptor other_end = opened_->both_ends();
  tracee_.repeat(call_);
  constexpr unsigned kOfCall = 2;  // at the entry and at the return of the call
  for (unsigned stops = 0; stops < kOfCall;) {
    tracee_.run_to_return();
    const Stop stop = sandbox_.await(*this);
    if (stop.kind == StopKind::kReturn) {
      ++stops;
    } else if (stop.kind == StopKind::kSignal && signal_ == 0) {
      on_signal(stop.detail);  // delivered when the thread goes on
    } else {
      sandbox_.note_early(stop);
      break;
    }
  }
  opened_.reset();
  return true;
}

/// Where it has been interrupted in a call in which it slept. False: it was doing something else.
bool Thread::wait_for_kernel() {
  auto registers = tracee_.registers();
  const auto call = registers ? blocked_call_of(*registers) : std::nullopt;
  if (!call) return false;
  call_ = *call;
  if (!retries_) retries_.emplace(now());
  Instant until = retries_->next(now());
  if (call_limit_) until = std::min(until, call_limit_->deadline);
  sandbox_.watch_blocked(*this);
  const Woken woken = wait("a call in the kernel to return", until);
  sandbox_.unwatch_blocked(*this);
  // A signal ends the call, as the kernel has it: what its registers say already.
  if (woken == Woken::kOver || woken == Woken::kSignal) return true;
  if (call_limit_ && now() >= call_limit_->deadline) {
    registers->rax = static_cast<unsigned long long>(-static_cast<long>(call_limit_->error));
    registers->orig_rax = ~0ull;  // the kernel does not make it again
    tracee_.set_registers(*registers);
    return true;
  }
  tracee_.repeat(*call);
  repeats_ = true;
  return true;
}

void Thread::on_deed() {
  if (retries_ && retries_->on_deed()) on_ready();
}

void Thread::note_used(std::uint64_t used) {
  used_ = used;
  if (!used_at_call_) used_at_call_ = used;
}

bool Thread::computes_for_ever() const {
  const auto budget = static_cast<std::uint64_t>(sandbox_.options().processor_time.count());
  return used_at_call_ && used_ - *used_at_call_ > budget;
}

/// Once it is known to wait, one time around its loop shows whether it still does.
void Thread::wait_in_loop(unsigned length) {
  const auto first = tracee_.registers();
  auto now = first;
  spins_ = 0;
  while (first && now && same(*first, *now)) {
    spin();
    if (over_) return;
    for (unsigned i = 0; i < length; ++i) {
      if (!advance()) return;
    }
    now = tracee_.registers();
  }
  used_at_call_.reset();
}

void Thread::on_signal(int signal) {
  if ((signal == SIGSEGV || signal == SIGILL) && emulate(signal)) return;
  sandbox_.note_signal(*this, signal);
  Debugger* const debugger = sandbox_.options().debugger;
  signal_ = debugger == nullptr ? signal : debugger->on_signal(*this, signal);
}

void Thread::on_program() {
  for (const auto& other : process_.threads) {
    if (other.get() != this) other->leave();
  }
  if (process_.threads.size() > 1) sandbox_.on_words_left(process_);
  sandbox_.await_lender(process_);
  process_.clock.reset();
  process_.entries.reset();
  process_.code.reset();
  look_at_new_code();
  std::array<std::byte, 16> random;
  for (std::byte& byte : random) byte = static_cast<std::byte>(sandbox_.random().next());
  if (!tracee::tame(tracee_, random))
    sandbox_.remark(process_.name +
                    " may read the real clock: its initial stack has an unknown layout");
  if (sandbox_.options().debugger != nullptr) sandbox_.options().debugger->on_program(*this);
}

void Thread::look_at_new_code() {
  if (!process_.code)
    process_.code.emplace(sandbox_.options().replace_time_stamps ? Replaced::kChanceAndTime
                                                                 : Replaced::kChance);
  for (const std::string& file : process_.code->look(tracee_)) remark_on_code(file);
}

void Thread::map_code(const Call& call) {
  const auto& [address, size, rights, flags, fd, offset] = call.arguments;
  if ((flags & MAP_ANONYMOUS) != 0 || !process_.code) return;
  const Descriptor file = borrow(static_cast<int>(fd));
  if (!file || !process_.code->wants(file)) return;
  const auto begin = finish_call();
  constexpr long kErrorsEnd = -4095;
  if (!begin || (*begin < 0 && *begin >= kErrorsEnd)) return;
  const auto from = static_cast<std::uint64_t>(*begin);
  const bool done = process_.code->replace(tracee_,
                                           {.begin = from,
                                            .end = from + size,
                                            .offset = offset,
                                            .shared = (flags & MAP_TYPE) != MAP_PRIVATE},
                                           file);
  std::error_code unknown;
  const std::string link = "/proc/self/fd/" + std::to_string(file.get());
  if (!done) remark_on_code(std::filesystem::read_symlink(link, unknown));
}

void Thread::remark_on_code(const std::string& file) {
  sandbox_.remark(
      file +
      " cannot be read: if its code uses RDRAND, or RDTSC on a machine that cannot trap it, the "
      "run may be irreproducible");
}

void Thread::leave() {
  over_ = true;
  wake(Woken::kOver);
}

/// In which order the kernel ends the threads of a process is not to be seen: whoever waits is
/// woken when all of them are gone.
void Thread::on_gone(int status) {
  over_ = true;
  sandbox_.on_thread_gone(*this, status);
}

std::string Thread::describe() const {
  if (call_.number < 0) return {};
  std::string text = "    in " + name_of_call(call_.number) + "(";
  for (unsigned i = 0; i < 3; ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(call_.arguments[i]);
  return text + ", ...)\n";
}

}  // namespace anyrdma::sim::programs
