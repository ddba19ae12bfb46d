// The seccomp filter of a process whose device has registered memory on a simulated host.
#pragma once

namespace anyrdma::transport {

/// From now on all threads of the process stop for the supervisor at calls that unmap or replace
/// memory: munmap, mremap, brk, madvise with an advice that drops pages, and mmap with MAP_FIXED. A
/// process that registers no memory makes these calls at full speed. Further calls of the function
/// do nothing. Use it only under a supervisor: elsewhere the calls would fail with ENOSYS. Any
/// thread may call it. Leaves errno alone. Source: seccomp(2), SECCOMP_RET_TRACE.
///
/// Returns whether all threads stop. A thread that has a filter of its own makes the kernel refuse
/// one for all threads: then only the first thread that has called the function stops, and those
/// that it makes later.
[[nodiscard]] bool stop_at_memory_changes();

}  // namespace anyrdma::transport
