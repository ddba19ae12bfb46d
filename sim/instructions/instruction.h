// Where one instruction ends and the next one begins, and which of them read the time stamp
// counter. Source: Intel 64 Software Developer's Manual, volume 2, chapter 2 and appendix A; AMD64
// Architecture Programmer's Manual, volume 3, appendix A.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace anyrdma::sim::instructions {

/// How many bytes the instruction has with which `code` begins, in 64-bit mode; 0: none does, as
/// far as we know, or it is cut off.
[[nodiscard]] std::size_t length_of(std::span<const std::uint8_t> code);

/// Whether an instruction, all of which is given, is RDTSC or RDTSCP without a prefix.
[[nodiscard]] bool reads_time_stamp(std::span<const std::uint8_t> instruction);

}  // namespace anyrdma::sim::instructions
