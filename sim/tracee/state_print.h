// Whether a thread is where it has been before, with nothing changed meanwhile.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace anyrdma::sim::tracee {

/// A number for all that a thread's next instructions may depend on, beside its general registers:
/// the memory that its process can write, and the wide registers. The thread has stopped, and so
/// has everybody who shares memory with it. nullopt: it is gone, or may not be looked at.
[[nodiscard]] std::optional<std::uint64_t> state_print(pid_t tid);

}  // namespace anyrdma::sim::tracee
