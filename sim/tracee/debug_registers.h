// Whether the processor's debug registers do what ptrace(2) says: some virtual machines accept
// watchpoints that never trigger.
#pragma once

namespace anyrdma::sim::tracee {

/// Returns whether a write to watched memory stops the thread that makes it. The first call finds
/// out with a child process; it blocks until that has ended. Later calls return the same.
[[nodiscard]] bool debug_registers_work();

}  // namespace anyrdma::sim::tracee
