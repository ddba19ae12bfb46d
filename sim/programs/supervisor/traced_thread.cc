#include "sim/programs/supervisor/traced_thread.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "sim/host.h"
#include "sim/points/mark_call.h"
#include "sim/programs/kernel/job_control.h"
#include "sim/programs/patching/emulation.h"
#include "sim/programs/process/process.h"
#include "sim/programs/supervisor/sandbox.h"
#include "sim/programs/syscalls/new_code.h"
#include "sim/programs/syscalls/system_calls.h"
#include "sim/tracee/auxiliary_vector.h"
#include "transport/realtime/point_call.h"

namespace anyrdma::sim::programs {

using tracee::Stop;
using tracee::StopKind;

TracedThread::TracedThread(Sandbox& sandbox, Process& process, std::string name, pid_t tid,
                           bool is_new)
    : Thread(sandbox, process, std::move(name), tid), sandbox_(sandbox), is_new_(is_new) {}

void TracedThread::live(Duration delay) {
  if (delay != Duration::zero()) (void)spend(delay);
  if (is_new_) handle(sandbox_.await(*this));
  while (!is_over()) handle(sandbox_.run(*this, std::exchange(signal_, 0)));
  sandbox_.end_turn();
}

void TracedThread::handle(const Stop& stop) {
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
      return;
    case StopKind::kGroupStop:
      return stay_stopped();
  }
}

/// Until the child has a program of its own, or is gone: vfork(2). No signal comes before.
void TracedThread::lend_memory(pid_t child) {
  sandbox_.on_new_process(*this, child).lender = this;
  lends_ = true;
  tracee().run();
  while (lends_ && !is_over()) (void)wait("its vfork child to execute a program or exit");
}

void TracedThread::on_memory_back() {
  lends_ = false;
  wake(Woken::kReady);
}

/// Whether it writes lines to standard output: no other program sees them, so how a program is
/// buffered changes nothing of the run but the times of its lines.
bool TracedThread::is_printing(const tracee::Call& call) const {
  constexpr std::uint64_t kBytesMax = 4096;  // for which the pipe has room
  return call.number == SYS_write && call.arguments[0] == STDOUT_FILENO &&
         call.arguments[2] <= kBytesMax && sandbox_.is_output(*this, call.arguments[0]);
}

bool TracedThread::pay_for_calls() {
  if (!owes_for_calls()) return true;
  return spend(sandbox_.call_cost() * std::exchange(unpaid_calls_, 0));
}

void TracedThread::on_call() {
  // Who prints over and over is to let others go on.
  constexpr unsigned kPrintsForNothing = 64;
  const auto call = tracee().call();
  if (!call) return;
  if (!std::exchange(repeats_, false) || call->number != call_.number) {
    retries_.reset();
    end_call_limit();
  }
  call_ = *call;
  // Questions and reports depend on observers, and steps on the machine: neither must show.
  const bool prints = is_printing(*call);
  const bool aside = is_aside(*call) || (prints && ++prints_ % kPrintsForNothing != 0);
  const bool is_point =
      call->number == transport::realtime::kPointCall || call->number == kGuardCall;
  if (!aside) {
    interruptions_ = 0;
    used_at_call_.reset();
  }
  if (sandbox_.options().on_call) {
    const std::string name =
        process().host->name() + "/" + process().name + "[" + std::to_string(tid()) + "]";
    sandbox_.options().on_call(sandbox_.world().now(), name, describe());
  }
  if (!aside && (!pay_for_calls() || !give_way())) return;
  const unsigned looks = idleness().looks();
  const unsigned vain_looks = idleness().vain_looks();
  const Outcome outcome = make_call(*this, *call);
  if (outcome.kind == Outcome::Kind::kMade) {
    sandbox_.note_call_in_kernel();
    if (!aside) ++unpaid_calls_;
  }
  if (prints && outcome.kind == Outcome::Kind::kMade && !is_over()) {
    (void)finish_call();
    sandbox_.read_output();
    return;
  }
  if (idleness().looks() == looks && !aside && !is_point) idleness().end_looks();
  // To look in vain somewhere else is no deed.
  const bool spins = call->number == SYS_sched_yield ||
                     call->number == transport::realtime::kPollCall ||
                     idleness().vain_looks() > vain_looks;
  if (!aside && !is_point && !spins) end_spins();
  if (outcome.kind != Outcome::Kind::kAnswered || is_over()) return;
  tracee().answer(outcome.result);
  // Whom this call has woken may go on before its caller does. A point wakes no thread.
  if (!aside && !is_point) (void)give_way();
}

/// Whether it has stopped at an instruction whose result the supervisor decides.
bool TracedThread::emulate(int signal) {
  auto registers = tracee().registers();
  if (!registers) return false;
  const auto site = signal == SIGSEGV
                        ? time_stamp_at(tracee(), registers->rip)
                        : (process().code ? process().code->at(registers->rip) : std::nullopt);
  if (!site) return false;
  const Executing processor{.number = sandbox_.kernel().affinities.place_of(*this),
                            .of_host = process().host->description().processors};
  switch (site->kind) {
    case instructions::Site::Kind::kTimeStamp:
      if (!spend(idleness().look())) return true;
      read_time_stamp(*registers, *site, now().time_since_epoch(), processor);
      break;
    case instructions::Site::Kind::kChance:
      if (!spend(sandbox_.call_cost())) return true;
      draw(*registers, *site, sandbox_.random().next());
      break;
    case instructions::Site::Kind::kProcessor:
      tell_processor(*registers, *site, processor);
      break;
    case instructions::Site::Kind::kIdentity:
      sandbox_.kernel().facts.note(program_of(process()), Fact::kProcessor, "CPUID");
      tell_identity(*registers, *site, processor);
      break;
  }
  tracee().set_registers(*registers);
  return true;
}

void TracedThread::on_signal(int signal) {
  if ((signal == SIGSEGV || signal == SIGILL) && emulate(signal)) return;
  sandbox_.note_signal(*this, signal);
  Debugger* const debugger = sandbox_.options().debugger;
  signal_ = debugger == nullptr ? signal : debugger->on_signal(*this, signal);
}

/// Until SIGCONT is pending. A sleep goes on then.
void TracedThread::stay_stopped() {
  const bool sleeps = call_.number == SYS_nanosleep || call_.number == SYS_clock_nanosleep;
  const auto end = sleeps ? last_deadline() : std::nullopt;
  set_stopped(true);
  on_stopped(*this);
  while (!is_over() && programs::is_stopped(process()))
    (void)wait("SIGCONT (a signal has stopped it)");
  set_stopped(false);
  if (!is_over() && end) sleep_on(*end);
}

/// The stop has ended the thread's sleep with EINTR. Linux lets the sleep go on until its end,
/// unless a signal has a handler.
void TracedThread::sleep_on(Instant end) {
  auto registers = tracee().registers();
  if (!registers || registers->rax != static_cast<unsigned long long>(-EINTR)) return;
  if (wait("time to pass (it sleeps)", end) != Woken::kTimeout) return;
  registers->rax = 0;
  tracee().set_registers(*registers);
}

void TracedThread::on_program() {
  for (const auto& other : process().threads) {
    if (other.get() != this) traced(*other).leave();
  }
  if (process().threads.size() > 1) sandbox_.on_words_left(process());
  sandbox_.await_lender(process());
  process().clock.reset();
  process().entries.reset();
  process().writes_shared = false;
  process().regions.clear();
  process().code.emplace(sandbox_.options().replace_time_stamps ? Replaced::kChanceAndTime
                                                                : Replaced::kChance);
  look_at_new_program(*this);
  std::array<std::byte, 16> random;
  for (std::byte& byte : random) byte = static_cast<std::byte>(sandbox_.random().next());
  if (!tracee::tame(tracee(), random))
    sandbox_.remark(process().name +
                    " may read the real clock: its initial stack has an unknown layout");
  if (sandbox_.options().debugger != nullptr) sandbox_.options().debugger->on_program(*this);
}

/// In which order the kernel ends the threads of a process is not to be seen: whoever waits is
/// woken when all of them are gone.
void TracedThread::on_gone(int status) {
  set_over();
  sandbox_.on_thread_gone(*this, status);
}

std::string TracedThread::describe() const {
  if (call_.number < 0) return {};
  std::string text = "    in " + name_of_call(call_.number) + "(";
  for (unsigned i = 0; i < 3; ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(call_.arguments[i]);
  return text + ", ...)\n";
}

}  // namespace anyrdma::sim::programs
