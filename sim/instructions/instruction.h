// Lengths of instructions, and which of them have results that differ from run to run.
// Source: Intel 64 Software Developer's Manual, volume 2, chapter 2 and appendix A; AMD64
// Architecture Programmer's Manual, volume 3, appendix A.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace anyrdma::sim::instructions {

/// Returns the length in bytes of the instruction at the beginning of `code`, in 64-bit mode. 0:
/// unknown, or incomplete.
[[nodiscard]] std::size_t length_of(std::span<const std::uint8_t> code);

/// Whether an instruction, all of which is given, is RDTSC or RDTSCP without a prefix.
[[nodiscard]] bool reads_time_stamp(std::span<const std::uint8_t> instruction);

/// Whether an instruction, all of which is given, is CPUID without a prefix.
[[nodiscard]] bool asks_for_identity(std::span<const std::uint8_t> instruction);

/// The register that an instruction writes.
struct Target {
  std::uint8_t number = 0;  ///< of the register, as instructions have it: 0 is RAX, 4 RSP, 15 R15
  std::uint8_t bytes = 0;   ///< 2, 4 or 8
  bool operator==(const Target&) const = default;
};

/// Returns the target register of an RDRAND or RDSEED, given with all its bytes. nullopt: another
/// instruction, or one with prefixes that no compiler emits.
[[nodiscard]] std::optional<Target> asks_for_chance(std::span<const std::uint8_t> instruction);

/// Returns the target register of an RDPID, all of which is given. nullopt: another instruction.
[[nodiscard]] std::optional<Target> asks_for_processor(std::span<const std::uint8_t> instruction);

}  // namespace anyrdma::sim::instructions
