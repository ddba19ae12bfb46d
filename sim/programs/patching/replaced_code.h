// Traps instructions with nondeterministic results: RDRAND and RDSEED, and RDTSC where the
// processor cannot trap it (sim/tracee/time_stamps.h). They are replaced by invalid instructions in
// the process's own copy of its code.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "sim/instructions/sites.h"
#include "sim/tracee/tracee.h"
#include "transport/realtime/descriptor.h"

namespace anyrdma::sim::programs {

/// The instructions to replace.
enum class Replaced : bool {
  kChance,  ///< all but those that read the time stamp counter
  kChanceAndTime,
};

/// The replaced instructions of one process. A child of fork(2) has the same ones; execve(2) ends
/// them. The result of scanning a file is cached in the simulator.
class ReplacedCode {
 public:
  explicit ReplacedCode(Replaced which) : which_(which) {}

  /// Of a file's code.
  struct Mapping {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t offset = 0;  ///< in the file
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    bool shared = false;  ///< what is written there is the file's
    auto operator<=>(const Mapping&) const = default;
  };
  /// Whether a file that is about to be mapped contains instructions to replace. False: replace()
  /// need not be called for the mapping.
  [[nodiscard]] bool wants(const transport::realtime::Descriptor& file) const;
  /// Replaces the instructions in a file that has been mapped. `thread` is a stopped thread of the
  /// process, and no other one runs. False: the code cannot be written to.
  [[nodiscard]] bool replace(const tracee::Tracee& thread, const Mapping& mapping,
                             const transport::realtime::Descriptor& file);
  /// Searches all files that the process has mapped as code and that were not searched before, and
  /// replaces instructions. Returns the names of files that cannot be read.
  [[nodiscard]] std::set<std::string> look(const tracee::Tracee& thread);
  /// Returns the original instruction.
  [[nodiscard]] std::optional<instructions::Site> at(std::uint64_t address) const;

 private:
  [[nodiscard]] bool is_wanted(const instructions::Site& site) const;

  Replaced which_;
  std::set<Mapping> seen_;
  std::map<std::uint64_t, instructions::Site> replaced_;  ///< by address
};

}  // namespace anyrdma::sim::programs
