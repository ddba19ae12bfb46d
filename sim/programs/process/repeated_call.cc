#include "sim/programs/process/repeated_call.h"

#include "sim/programs/process/signal_state.h"
#include "sim/programs/process/supervisor.h"

namespace anyrdma::sim::programs {

void set_arguments(Thread& thread, const Call& call) {
  for (unsigned i = 0; i < call.arguments.size(); ++i)
    thread.tracee().set_argument(i, call.arguments[i]);
}

bool make_again(Thread& thread, const Call& call) {
  thread.tracee().repeat(call);
  for (int signal = 0;;) {
    const tracee::Stop stop = thread.supervisor().run(thread, signal);
    thread.supervisor().close_pages();
    if (stop.kind == tracee::StopKind::kCall) return true;
    const bool ignored = stop.kind == tracee::StopKind::kSignal && ignores(thread, stop.detail);
    signal = ignored ? stop.detail : 0;
    if (ignored || stop.kind == tracee::StopKind::kStarted) continue;
    thread.handle(stop);
    return false;
  }
}

Outcome returned(Thread& thread, const Call& call, long result) {
  set_arguments(thread, call);
  thread.tracee().set_result(result);
  return Outcome::made();
}

Outcome abandoned(Thread& thread, const Call& call, long result) {
  constexpr unsigned kSystemCallBytes = 2;
  auto registers = thread.is_over() ? std::nullopt : thread.tracee().registers();
  if (!registers) return Outcome::over();
  registers->rip += kSystemCallBytes;
  thread.tracee().set_registers(*registers);
  return returned(thread, call, result);
}

}  // namespace anyrdma::sim::programs
