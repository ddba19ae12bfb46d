// The memory of a process as the kernel lists it, and what of it belongs into a core file.
// Source: proc_pid_smaps(5), core(5).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace anyrdma::sim::debug {

constexpr std::uint64_t kPageBytes = 4096;

/// One mapping. Addresses and sizes are in bytes.
struct Mapping {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  ///< in the file
  std::uint64_t inode = 0;   ///< 0: it is no file's
  std::string path{};        ///< as the kernel has it; empty: none
  bool readable = false;
  bool writable = false;
  bool executable = false;
  bool shared = false;
  bool omitted = false;  ///< of a device, or the program asked for it by madvise(2)
  bool touched = false;  ///< some of it is in memory
  bool changed = false;  ///< some of it is the process's own copy
};

/// Parses the text of /proc/PID/smaps. Lines that are not understood are left out.
[[nodiscard]] std::vector<Mapping> parse_mappings(std::string_view smaps);

/// How much of a mapping, from its beginning, is written to a core file.
enum class Kept : std::uint8_t {
  kNothing,  ///< gdb reads it from the mapping's file
  kHeader,   ///< the first page, which says which file it is
  kAll,
};
[[nodiscard]] Kept kept_of(const Mapping& mapping);

}  // namespace anyrdma::sim::debug
