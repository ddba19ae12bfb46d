// What happens to a thread that has run, or slept in the kernel, for long without a stop: whether
// it waits in a loop, computes, or is blocked in a system call.
#include <algorithm>
#include <csignal>
#include <utility>

#include "sim/programs/process/process.h"
#include "sim/programs/process/signal_state.h"
#include "sim/programs/supervisor/blocked_call.h"
#include "sim/programs/supervisor/sandbox.h"
#include "sim/programs/supervisor/traced_thread.h"
#include "sim/tracee/state_print.h"

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

}  // namespace

/// One instruction further. False: something else has happened, and has been taken care of.
bool TracedThread::advance() {
  const Stop stop = sandbox_.step(*this);
  if (stop.kind == StopKind::kSignal && stop.detail == SIGTRAP) return !is_over();
  handle(stop);
  return false;
}

/// Steps until it is at the same instruction with the same registers again: how many steps that
/// were; 0: too many. nullopt: something else has happened.
std::optional<unsigned> TracedThread::go_round() {
  // A long loop shows when the thread has been seen for a while.
  constexpr unsigned kFirstSteps = 512;
  constexpr unsigned kDoublingsMax = 4;
  const unsigned steps = kFirstSteps << std::min(interruptions_, kDoublingsMax);
  const auto first = tracee().registers();
  bool moved = false;
  for (unsigned i = 0; first && i < steps; ++i) {
    if (!advance()) return std::nullopt;
    const auto now = tracee().registers();
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
void TracedThread::on_interrupted() {
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
      process().name +
      " computes for seconds without a system call: other threads run meanwhile, and the run may "
      "be irreproducible");
  spin();
}

/// Where it has been interrupted opening a file, which the kernel does again: when the other end is
/// there, or a signal has come. False: it was doing something else.
bool TracedThread::wait_to_open() {
  const auto registers = tracee().registers();
  const auto call = registers ? opening_by(*registers) : std::nullopt;
  if (!call) return false;
  call_ = *call;
  opened_ = NamedPipe::opened_by(tracee(), *call);
  opens_in_kernel_ = !opened_;
  if (!opened_) return true;
  sandbox_.watch_opening(*this);
  (void)wait("the other end of a named pipe to be opened");
  sandbox_.unwatch_opening(*this);
  opened_.reset();
  return true;
}

bool TracedThread::finish_opening() {
  if (!opened_ || !opened_->has_partner()) return false;
  const Descriptor other_end = opened_->both_ends();
  tracee().repeat(call_);
  constexpr unsigned kOfCall = 2;  // at the entry and at the return of the call
  for (unsigned stops = 0; stops < kOfCall;) {
    tracee().run_to_return();
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
bool TracedThread::wait_for_kernel() {
  auto registers = tracee().registers();
  const auto call = registers ? blocked_call_of(*registers) : std::nullopt;
  if (!call) return false;
  // It has stopped because SIGCONT was sent, and a signal is about to end the call.
  if (takes_signal(*this)) return true;
  call_ = *call;
  if (!retries_) retries_.emplace(now());
  Instant until = retries_->next(now());
  if (call_limit()) until = std::min(until, call_limit()->deadline);
  sandbox_.watch_blocked(*this);
  const Woken woken = wait("a call in the kernel to return", until);
  sandbox_.unwatch_blocked(*this);
  // A signal ends the call, as the kernel has it: what its registers say already.
  if (woken == Woken::kOver || woken == Woken::kSignal) return true;
  if (call_limit() && now() >= call_limit()->deadline) {
    registers->rax = static_cast<unsigned long long>(-static_cast<long>(call_limit()->error));
    registers->orig_rax = ~0ull;  // the kernel does not make it again
    tracee().set_registers(*registers);
    return true;
  }
  tracee().repeat(*call);
  repeats_ = true;
  return true;
}

void TracedThread::on_deed() {
  if (retries_ && retries_->on_deed()) on_ready();
}

void TracedThread::note_used(std::uint64_t used) {
  used_ = used;
  if (!used_at_call_) used_at_call_ = used;
}

bool TracedThread::computes_for_ever() const {
  const auto budget = static_cast<std::uint64_t>(sandbox_.options().processor_time.count());
  return used_at_call_ && used_ - *used_at_call_ > budget;
}

/// Once it is known to wait, one time around its loop shows whether it still does.
void TracedThread::wait_in_loop(unsigned length) {
  const auto first = tracee().registers();
  auto now = first;
  end_spins();
  while (first && now && same(*first, *now)) {
    spin();
    if (is_over()) return;
    for (unsigned i = 0; i < length; ++i) {
      if (!advance()) return;
    }
    now = tracee().registers();
  }
  used_at_call_.reset();
}

}  // namespace anyrdma::sim::programs
