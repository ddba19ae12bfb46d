// The processors, the memory and the kernel that programs on a simulated host see.
#pragma once

#include <bitset>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>

namespace anyrdma::sim {

/// The largest number of processors of a host: that of cpu_set_t, CPU_SETSIZE.
inline constexpr std::size_t kProcessorsMax = 1024;

/// The hardware and the kernel of a host, as its programs see them in system calls, `/proc`, `/sys`
/// and CPUID. The numbers change nothing else: threads of a world run one at a time, and memory is
/// not limited.
struct HostDescription {
  unsigned processors = 2;                        ///< from 1 to kProcessorsMax
  std::uint64_t memory = std::uint64_t{8} << 30;  ///< in bytes, a multiple of 1 MiB; half is free
  std::string kernel = "6.1.0-anyrdma";           ///< its release, as uname(2) has it

  [[nodiscard]] auto operator<=>(const HostDescription&) const = default;
};

/// Returns why a description is refused, as a sentence without its full stop; empty: it is valid.
/// `huge_pages`: of the host, of 2 MiB. They must fit into memory that is not the default.
[[nodiscard]] std::string problem_with(const HostDescription& description, unsigned huge_pages = 0);

/// Processors by their numbers, from 0.
using ProcessorSet = std::bitset<kProcessorsMax>;

/// Returns the first `count` processors, which are all that a host has.
[[nodiscard]] ProcessorSet first_processors(unsigned count);
/// Returns the first processor of the set. Precondition: the set is not empty.
[[nodiscard]] unsigned first_of(const ProcessorSet& set);
/// Returns the set as a list of ranges, "0-1,4". Empty: no processor. Source: cpuset(7), list
/// format.
[[nodiscard]] std::string list_text(const ProcessorSet& set);
/// Returns the set as a mask for a host with `processors` processors, "f,ffffffff". Source:
/// cpuset(7), mask format.
[[nodiscard]] std::string mask_text(const ProcessorSet& set, unsigned processors);

}  // namespace anyrdma::sim
