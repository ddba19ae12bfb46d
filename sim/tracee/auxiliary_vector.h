// The auxiliary vector: the kernel's data for a new program. Source: getauxval(3), vdso(7).
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "sim/tracee/tracee.h"

namespace anyrdma::sim::tracee {

/// Changes the auxiliary vector of a new program, so that the program is deterministic. The program
/// finds no vDSO, so that each reading of a clock is a system call; and it gets `random` as its
/// AT_RANDOM bytes. Call when the thread has stopped with StopKind::kProgram, before its first
/// instruction. Returns false if the program's stack does not have the expected layout.
[[nodiscard]] bool tame(const Tracee& tracee, const std::array<std::byte, 16>& random);

/// Returns the bytes of a process's auxiliary vector as the program has it, without a vDSO. Empty:
/// the process has ended.
[[nodiscard]] std::string auxiliary_vector_of(pid_t pid);

}  // namespace anyrdma::sim::tracee
