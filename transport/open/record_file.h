// The file of a process's recording.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "recording/sink.h"
#include "verbs/why_not.h"

namespace anyrdma::transport {

/// The process that records.
struct RecordingProcess {
  std::string host{};  ///< its name in lanes
  std::string program{};
  pid_t pid = 0;
  bool named = false;  ///< `host` is more than program and process
};

/// The calling process. `host` is its name; empty: PROGRAM[PID].
[[nodiscard]] RecordingProcess this_process(const std::string& host);

struct RecordFile {
  std::unique_ptr<recording::FileSink> sink;
  std::string path;
  bool another = false;  ///< not the path that was asked for: another process has that one
};

/// Opens the process's own file. If `path` is a directory, the file's name is that of the process:
/// "client.rping.812.recording". Otherwise the first process uses `path`, and others PATH.PID. A
/// file that is not empty is not overwritten.
[[nodiscard]] verbs::OrWhyNot<RecordFile> open_record_file(const std::string& path,
                                                           const RecordingProcess& process);

/// For a parent of processes that record there: checks that they can, and returns the absolute
/// path. A file is truncated, unless a process still writes it.
[[nodiscard]] verbs::OrWhyNot<std::string> prepare_record_path(const std::string& path);

}  // namespace anyrdma::transport
