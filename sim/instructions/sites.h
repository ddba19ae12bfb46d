// The places of instructions with nondeterministic results in a program's file.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/instructions/instruction.h"

namespace anyrdma::sim::instructions {

/// The place of an instruction to replace.
struct Site {
  enum class Kind : std::uint8_t {
    kTimeStamp,  ///< RDTSC (two bytes) or RDTSCP (three)
    kChance,     ///< RDRAND or RDSEED
    kProcessor,  ///< RDPID
    kIdentity,   ///< CPUID
  };
  std::uint64_t offset = 0;  ///< in the file
  std::uint8_t length = 0;
  Kind kind = Kind::kTimeStamp;
  Target target{};  ///< of kChance and kProcessor
  bool operator==(const Site&) const = default;
};

/// Returns the places of all such instructions, in their order, in the functions of an ELF file for
/// x86-64 that is open as `fd`. An instruction counts only if decoding from the beginning of its
/// function, according to .eh_frame, reaches it; equal bytes inside another instruction or in data
/// do not count. Empty also if the file is not such an ELF file.
[[nodiscard]] std::vector<Site> sites_in(int fd);

}  // namespace anyrdma::sim::instructions
