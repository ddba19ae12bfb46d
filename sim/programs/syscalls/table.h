// The table of system calls: one row for each number that the kernel's headers know. The seccomp
// filter, the dispatch to handlers, the names in messages and the table of docs/support.md come
// from it. To add a call: a row here, and a handler if the row stops. Source: the kernel's
// arch/x86/entry/syscalls/syscall_64.tbl for numbers and names.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/programs/thread.h"
#include "sim/tracee/filter.h"

namespace anyrdma::sim::programs {

/// A handler emulates a stopped system call of a thread in the simulated world, and returns the
/// call's outcome.
using Handler = Outcome (*)(Thread&, const Call&);

struct SystemCall {
  int number = 0;
  const char* name = "";
  tracee::Answer answer{};                          ///< of calls to which no argument rule applies
  std::span<const tracee::ArgumentRule> arguments;  ///< the first applicable rule decides
  Handler handler = nullptr;  ///< the handler of calls that stop; null if the row never stops
  const char* support = "";   ///< a sentence for docs/support.md; empty: a call of anyrdma's own
};

/// Returns all rows in ascending order of their numbers: first the kernel's calls, then the calls
/// that exist only in the simulator, for anyrdma's libraries.
[[nodiscard]] std::span<const SystemCall> system_calls();

/// Returns the row of a system call number. Null: there is no such row.
[[nodiscard]] const SystemCall* find_system_call(long number);

/// Returns the seccomp rules of all rows, for tracee::launch. A call without a row stops the
/// thread.
[[nodiscard]] const std::vector<tracee::CallRule>& call_rules();

/// Returns the name of a system call, such as "futex"; "system call 511" if the number has no row.
[[nodiscard]] std::string name_of_call(long number);

}  // namespace anyrdma::sim::programs
