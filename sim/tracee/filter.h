// Which system calls of a traced process stop it: all but those that are named.
// Source: seccomp(2).
#pragma once

#include <linux/filter.h>

#include <span>
#include <vector>

namespace anyrdma::sim::tracee {

/// Whether calls that make memory executable, of mmap(2) and mprotect(2), stop the thread even if
/// those calls are untouched.
enum class NewCode : bool { kPasses, kStops };

/// Returns a program for SECCOMP_SET_MODE_FILTER. Calls of `untouched` and marked calls of
/// transport/realtime/prompt_call.h go to the kernel unchanged. So do fcntl(2) unless it may wait
/// for a lock, ioctl(2) unless it asks for an interface's address, and prlimit(2) unless it is of
/// CPU time. Calls of other architectures fail with ENOSYS. Calls for huge pages, of which the
/// machine has a varying number, fail with ENOMEM. All other calls stop the thread.
[[nodiscard]] std::vector<sock_filter> filter_of(std::span<const int> untouched,
                                                 NewCode new_code = NewCode::kPasses);

}  // namespace anyrdma::sim::tracee
