// Has what reads the time stamp counter in a process's code stop it: where the processor cannot be
// told to (sim/tracee/time_stamps.h), such instructions are replaced by some that no processor has,
// in the process's own copy of its code.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "sim/tracee/tracee.h"

namespace anyrdma::sim::programs {

/// Of a program's image: fork(2) gives its child the same, execve(2) ends it.
class TimeStamps {
 public:
  /// Looks through the files whose code the process has mapped since the last time. One of its
  /// threads, which has stopped; no other runs. What was found in a file is kept for whoever maps
  /// it next, in this process. The names of files that could not be looked at.
  [[nodiscard]] std::set<std::string> look(const tracee::Tracee& thread);
  /// The length of the instruction that was there; nullopt: none of these was.
  [[nodiscard]] std::optional<unsigned> length_at(std::uint64_t address) const;

 private:
  struct Mapping {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t offset = 0;
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    auto operator<=>(const Mapping&) const = default;
  };
  [[nodiscard]] bool replace(const tracee::Tracee& thread, const Mapping& mapping,
                             const std::string& path);

  std::set<Mapping> seen_;
  std::map<std::uint64_t, std::uint8_t> replaced_;  ///< lengths, by address
};

}  // namespace anyrdma::sim::programs
