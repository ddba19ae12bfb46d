// Has instructions stop a process whose results are the machine's: those that ask the processor for
// chance, and, where it cannot be told to stop who reads its time stamp counter
// (sim/tracee/time_stamps.h), those that do. They are replaced by some that no processor has, in
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

/// Which of them.
enum class Replaced : bool { kChance, kChanceAndTime };

/// Of a program's image: fork(2) gives its child the same, execve(2) ends it. What was found in a
/// file is kept for whoever maps it next, in this process.
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
  /// Whether there is anything to replace in a file that is about to be mapped: if not, nobody need
  /// be told of it.
  [[nodiscard]] bool wants(const transport::realtime::Descriptor& file) const;
  /// It has been mapped. One of the process's threads, which has stopped; no other runs. False:
  /// its code cannot be written to.
  [[nodiscard]] bool replace(const tracee::Tracee& thread, const Mapping& mapping,
                             const transport::realtime::Descriptor& file);
  /// Looks through all files whose code is mapped and that have not been looked through here. The
  /// names of those that could not be.
  [[nodiscard]] std::set<std::string> look(const tracee::Tracee& thread);
  /// What was there.
  [[nodiscard]] std::optional<instructions::Site> at(std::uint64_t address) const;

 private:
  [[nodiscard]] bool is_wanted(const instructions::Site& site) const;

  Replaced which_;
  std::set<Mapping> seen_;
  std::map<std::uint64_t, instructions::Site> replaced_;  ///< by address
};

}  // namespace anyrdma::sim::programs
