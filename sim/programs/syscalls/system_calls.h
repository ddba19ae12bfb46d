// The table of system calls, as the supervisor sees it: one row for each number that the kernel's
// headers know. The seccomp filter, the dispatch to handlers, the names in messages and the table
// of docs/support.md come from it. To add a call: a row in syscalls/table.cc, and a handler if the
// row stops. Source: the kernel's arch/x86/entry/syscalls/syscall_64.tbl for numbers and names.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/programs/process/thread.h"
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
  /// Whether the call stops in processes that have registered memory
  /// (transport/open/memory_filter.h).
  bool in_watched = false;
  const char* support = "";  ///< a sentence for docs/support.md; empty: a call of anyrdma's own
};

/// Returns all rows in ascending order of their numbers: first the kernel's calls, then the calls
/// that exist only in the simulator, for anyrdma's libraries.
[[nodiscard]] std::span<const SystemCall> system_calls();

/// Returns the row of a system call number. Null: there is no such row.
[[nodiscard]] const SystemCall* find_system_call(long number);

/// Returns the seccomp rules of all rows, for tracee::launch. A call without a row stops the
/// thread. `facts_too`: calls that ask for facts about the machine stop, too (machine_facts.h).
[[nodiscard]] const std::vector<tracee::CallRule>& call_rules(bool facts_too);

/// Executes the handler of a system call in the table. A call that is not in the table fails with
/// ENOSYS, and the user gets a remark.
[[nodiscard]] Outcome make_call(Thread& thread, const Call& call);

/// Whether programs make a system call more or less often depending on the machine, or on how the
/// run is observed (for example the report of a finding). A call that stops only because facts are
/// named is one, too. Such a call is no scheduling point.
[[nodiscard]] bool is_aside(const Call& call);

/// Whether a system call makes memory executable. Such a call stops the thread only so that the
/// supervisor can search the new code for instructions to replace.
[[nodiscard]] bool makes_code(long number);

/// Whether a system call can create a System V or POSIX object. Such a call stops the thread only
/// so that the supervisor knows that there are such objects.
[[nodiscard]] bool makes_object(long number);

/// Whether a system call unmaps or replaces memory. Such a call stops the thread only so that the
/// supervisor knows which registered regions lose their pages.
[[nodiscard]] bool changes_memory(long number);

/// Whether the kernel makes a system call without waiting, and the supervisor only removes facts
/// about the machine from its result.
[[nodiscard]] bool tells_of_machine(long number);

/// Returns the name of a system call, such as "futex"; "system call 511" if the number has no row.
[[nodiscard]] std::string name_of_call(long number);

}  // namespace anyrdma::sim::programs
