// Accesses application memory that may be invalid, because it was registered and then unmapped,
// protected or truncated. A NIC has pinned such pages. This software must survive the fault.
#pragma once

namespace anyrdma::transport::realtime {

/// Calls `access(context)`, which reads or writes application memory. `access` may end in the
/// middle, so it must hold no locks and have no objects with destructors. False: some of the memory
/// does not exist, or may not be accessed in this way. Accesses before that one were made.
///
/// The first call of guarded() installs handlers of SIGSEGV and SIGBUS (sigaction(2)). The handlers
/// pass other faults to the previous handlers, as the system would. Each call unblocks both signals
/// in its thread. A handler that the program installs later replaces these handlers, and gets their
/// faults, too. Any thread.
[[nodiscard]] bool guarded(void (*access)(void*), void* context);

}  // namespace anyrdma::transport::realtime
