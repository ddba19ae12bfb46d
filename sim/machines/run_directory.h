// The directory in which a run keeps its files. The files of a killed run take space until a later
// run removes them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>

namespace anyrdma::sim {

/// Where a directory is made, unless $TMPDIR names another place.
enum class Storage : std::uint8_t {
  kMemory,  ///< /dev/shm if it can be written, else /tmp: for small files of a short life
  kDisk,    ///< /tmp: for recordings, which may be large
};

/// A new directory `anyrdma-run.XXXXXX`. The directory stays locked (flock(2)) until the process
/// that created it and all its forks have ended. The constructor also removes such directories of
/// this user, in the same place, that no process locks: those of runs that were killed. Belongs to
/// one thread.
class RunDirectory {
 public:
  explicit RunDirectory(Storage storage = Storage::kMemory);
  /// Removes the directory, if called in the process that created it.
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  /// Empty: the system refused to make one.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// The errno with which the system refused; 0: it did not.
  [[nodiscard]] int error() const { return error_; }

 private:
  pid_t maker_;
  std::filesystem::path path_;
  int lock_ = -1;
  int error_ = 0;
};

}  // namespace anyrdma::sim
