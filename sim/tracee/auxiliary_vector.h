// The auxiliary vector: the kernel's data for a new program. Source: getauxval(3), vdso(7).
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "sim/tracee/tracee.h"

namespace anyrdma::sim::tracee {

/// Changes the auxiliary vector of a new program, so that the program is deterministic. The program
/// finds no vDSO, so that each reading of a clock is a system call, and nothing about rseq(2),
/// which is refused. It gets `random` as its AT_RANDOM bytes. Call when the thread has stopped with
/// StopKind::kProgram, before its first instruction. Returns false if the program's stack does not
/// have the expected layout.
[[nodiscard]] bool tame(const Tracee& tracee, const std::array<std::byte, 16>& random);

/// Returns the bytes of an auxiliary vector without those entries.
[[nodiscard]] std::string tamed(std::string vector);

/// Returns the bytes of a process's auxiliary vector as the program has it. Empty:
/// the process has ended.
[[nodiscard]] std::string auxiliary_vector_of(pid_t pid);

/// Returns the value of an entry of a vector that auxiliary_vector_of() has returned, such as
/// AT_PHDR. 0: there is none.
[[nodiscard]] std::uint64_t entry_of(const std::string& vector, std::uint64_t kind);

}  // namespace anyrdma::sim::tracee
