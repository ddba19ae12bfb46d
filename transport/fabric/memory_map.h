// What is mapped where in this process, as the kernel tells it: /proc/self/maps.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace anyrdma::transport::fabric {

/// One line.
struct Mapping {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  ///< of `begin` in the file
  std::uint64_t inode = 0;   ///< 0: no file
  dev_t device = 0;
  bool read = false;
  bool write = false;
  bool execute = false;
  bool shared = false;
  bool named = false;  ///< the kernel, or a file, gives it a name other than [heap] or [anon:...]
};

/// Reads one line, without its end. False: not such a line.
[[nodiscard]] bool parse_mapping(std::string_view line, Mapping& mapping);
/// All that lie in [begin, end) at least partly, in ascending order; empty where /proc is missing.
[[nodiscard]] std::vector<Mapping> mappings_in(std::uint64_t begin, std::uint64_t end);

}  // namespace anyrdma::transport::fabric
