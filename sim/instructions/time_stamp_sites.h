// Where in a program's file the time stamp counter is read.
#pragma once

#include <cstdint>
#include <vector>

namespace anyrdma::sim::instructions {

/// An RDTSC, of two bytes, or an RDTSCP, of three.
struct TimeStampSite {
  std::uint64_t offset = 0;  ///< in the file
  std::uint8_t length = 0;
  bool operator==(const TimeStampSite&) const = default;
};

/// All of them, in their order, in the functions of an ELF file for x86-64 that is open as `fd`: an
/// instruction counts only if whoever begins at its function's beginning, as .eh_frame has it,
/// comes to it; the same bytes within another instruction or among data are none. Empty, too: it is
/// no such file.
[[nodiscard]] std::vector<TimeStampSite> time_stamp_sites(int fd);

}  // namespace anyrdma::sim::instructions
