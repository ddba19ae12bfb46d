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

/// A program for SECCOMP_SET_MODE_FILTER. Calls of `untouched` go to the kernel as they are, and so
/// do those of transport/realtime/prompt_call.h that bear the mark, fcntl(2) unless it may wait for
/// a lock, ioctl(2) unless it asks for the address of an interface, and prlimit(2) unless it is of
/// processor time; calls of other architectures fail with ENOSYS, and those that want huge pages,
/// of which the machine has more at one time than at another, with ENOMEM, as where none are
/// reserved; the rest stops the thread.
[[nodiscard]] std::vector<sock_filter> filter_of(std::span<const int> untouched,
                                                 NewCode new_code = NewCode::kPasses);

}  // namespace anyrdma::sim::tracee
