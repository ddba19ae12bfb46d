// The state of files for stat(2), without facts that differ from run to run. Source: stat(2),
// statx(2), mincore(2), inode(7).
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <ctime>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "sim/programs/kernel/numbers.h"

namespace anyrdma::sim::programs {

/// The fields of struct stat and struct statx that may differ from run to run.
struct FileState {
  dev_t device = 0;
  ino_t inode = 0;
  mode_t mode = 0;
  std::uint64_t links = 0;
  std::int64_t size = 0;    ///< in bytes
  std::int64_t blocks = 0;  ///< of 512 bytes
  timespec access{};
  timespec modification{};
  timespec change{};
  timespec birth{};  ///< only of statx(2)
};

/// Replaces them by what is the same in each run of the same programs:
///
/// - Times since the beginning of the run become the virtual time at which a program first asks for
///   the file, or first asks after the file has changed. Earlier times are the machine's.
/// - The time of access is that of the modification, unless a program has set it (utimensat(2)).
/// - Numbers of sockets, pipes, files without a name, namespaces, files of processes, and files
///   that the simulator has put in place of the machine's, are in the order in which programs ask
///   for them. So are the devices of file systems that are on no disk.
///
/// One object serves a world; the thread of the sandbox uses it.
class FileStates {
 public:
  FileStates();

  /// Notes a file that the simulator puts in place of one of the machine's; a directory with all
  /// that is in it.
  void note_own(const std::string& path);
  /// Facts of a state that stay those of the machine.
  struct Left {
    bool times = false;
    bool numbers = false;
  };
  /// `proc`: the device of /proc as the program sees it. `now`: the time that its host's clock
  /// shows. Returns what it has not replaced.
  Left tell(FileState& state, dev_t proc, timespec now, Numbers& numbers);
  /// Whether the device may be that of a /proc: of a file system that is on no disk.
  [[nodiscard]] static bool may_be_proc(dev_t device);

 private:
  /// Times of a file: of the machine, and as programs see them.
  struct Known {
    timespec modification{};
    timespec change{};
    std::int64_t size = 0;
    timespec shown_modification{};
    timespec shown_change{};
    timespec first{};  ///< when a program has first asked for the file
  };

  [[nodiscard]] bool is_of_run(const timespec& time) const;
  void tell_times(FileState& state, Known& known, bool is_new, timespec now) const;

  timespec begin_{};
  dev_t unnamed_[5]{};  ///< of pipes, sockets, memory, events and processes
  dev_t namespaces_ = 0;
  std::set<std::pair<dev_t, ino_t>> own_;  ///< of the simulator
  std::map<std::pair<dev_t, ino_t>, Known> known_;
};

}  // namespace anyrdma::sim::programs
