// The directory in which a run of programs keeps its files, in a memory file system if there is
// one. The files of a killed run take memory until a later run removes them.
#pragma once

#include <sys/types.h>

#include <filesystem>

namespace anyrdma::sim {

/// A new directory `anyrdma-run.XXXXXX` in $TMPDIR, else in /dev/shm, else in /tmp. The directory
/// stays locked (flock(2)) until the process that created it and all its forks have ended. The
/// constructor also removes such directories of this user that no process locks: those of runs that
/// were killed. Belongs to one thread.
class RunDirectory {
 public:
  RunDirectory();
  /// Removes the directory, if called in the process that created it.
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  /// Empty: the system refused to make one.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  pid_t maker_;
  std::filesystem::path path_;
  int lock_ = -1;
};

}  // namespace anyrdma::sim
