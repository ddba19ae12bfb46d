// The directory in which a run of programs keeps its files: in memory where the machine has such a
// place, so what a killed run leaves there takes memory until some later run removes it.
#pragma once

#include <sys/types.h>

#include <filesystem>

namespace anyrdma::sim {

/// A new directory `anyrdma-run.XXXXXX` under $TMPDIR, else /dev/shm, else /tmp. It is locked
/// (flock(2)) for as long as its maker or a fork of it lives. The constructor also removes such
/// directories of this user that no process locks: those of runs that were killed. Belongs to one
/// thread.
class RunDirectory {
 public:
  RunDirectory();
  /// Removes the directory, in the process that made it.
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
