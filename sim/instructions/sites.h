// The places of instructions with nondeterministic results in a program's file.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/instructions/instruction.h"

namespace anyrdma::sim::instructions {

/// An RDTSC (two bytes), an RDTSCP (three), an RDRAND or an RDSEED.
struct Site {
  std::uint64_t offset = 0;  ///< in the file
  std::uint8_t length = 0;
  std::optional<RandomTarget> random{};  ///< nullopt: it reads the time stamp counter
  bool operator==(const Site&) const = default;
};

/// Returns all of them, in their order, in the functions of an ELF file for x86-64 that is open as
/// `fd`. An instruction counts only if decoding from its function's beginning, according to
/// .eh_frame, reaches it; the same bytes within another instruction or in data do not. Empty also
/// if it is no such file.
[[nodiscard]] std::vector<Site> sites_in(int fd);

}  // namespace anyrdma::sim::instructions
