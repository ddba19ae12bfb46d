// Where in a program's file stand instructions whose results are the machine's.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/instructions/instruction.h"

namespace anyrdma::sim::instructions {

/// An RDTSC, of two bytes, an RDTSCP, of three, or what asks for chance.
struct Site {
  std::uint64_t offset = 0;  ///< in the file
  std::uint8_t length = 0;
  std::optional<RandomTarget> random{};  ///< nullopt: it reads the time stamp counter
  bool operator==(const Site&) const = default;
};

/// All of them, in their order, in the functions of an ELF file for x86-64 that is open as `fd`: an
/// instruction counts only if whoever begins at its function's beginning, as .eh_frame has it,
/// comes to it; the same bytes within another instruction or among data are none. Empty, too: it is
/// no such file.
[[nodiscard]] std::vector<Site> sites_in(int fd);

}  // namespace anyrdma::sim::instructions
