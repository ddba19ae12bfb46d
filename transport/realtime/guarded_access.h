// Access to application memory that may be invalid: registered, and unmapped, protected or
// truncated since. A NIC has pinned such pages; here the process must survive the fault.
#pragma once

namespace anyrdma::transport::realtime {

/// Calls `access(context)`, which touches such memory and leaves nothing behind that would need
/// cleaning up when it ends in the middle: no locks, no objects with destructors. False: some of
/// that memory is not there, or may not be touched so; what came before it has been done.
///
/// From the first call on the process has handlers of SIGSEGV and SIGBUS (sigaction(2)). They pass
/// other faults to the previous handlers as the system would. Both signals are unblocked in each
/// thread that calls this. A handler that the program installs later replaces ours, and gets our
/// faults, too. Any thread.
[[nodiscard]] bool guarded(void (*access)(void*), void* context);

}  // namespace anyrdma::transport::realtime
