// Touching memory of the application's that may be gone: registered, and unmapped, protected or
// truncated since. A network adapter has pinned such pages; here nobody may die of it.
#pragma once

namespace anyrdma::transport::realtime {

/// Calls `access(context)`, which touches such memory and leaves nothing behind that would need
/// cleaning up when it ends in the middle: no locks, no objects with destructors. False: some of
/// that memory is not there, or may not be touched so; what came before it has been done.
///
/// From the first call on the process has handlers of SIGSEGV and SIGBUS (sigaction(2)), which
/// pass on what is none of this to those that were there before, as if these had been called by the
/// system; in each thread that comes here these two are unblocked. A program that puts a handler of
/// its own there later has it alone, and faults of ours go to it. Any thread.
[[nodiscard]] bool guarded(void (*access)(void*), void* context);

}  // namespace anyrdma::transport::realtime
