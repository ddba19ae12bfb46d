// Finds and opens the file to which a process writes its recording.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "recording/sink.h"
#include "verbs/why_not.h"

namespace anyrdma::transport {

/// A process that writes a recording.
struct RecordingProcess {
  std::string host{};  ///< the process's name in the recording
  std::string program{};
  pid_t pid = 0;
  bool named = false;  ///< true: `host` is not just the default PROGRAM[PID]
};

/// Describes the calling process. `host` is its name in the recording; empty: PROGRAM[PID].
[[nodiscard]] RecordingProcess this_process(const std::string& host);

struct RecordFile {
  std::unique_ptr<recording::FileSink> sink;
  std::string path;
  bool another = false;  ///< true: the path is not the requested one, which another process uses
};

/// Opens a file for the recording of this process. If `path` is a directory, the file has the
/// process's name: "client.rping.812.recording". Otherwise the first process uses the file `path`,
/// and others use PATH.PID. A file that is not empty is not overwritten.
[[nodiscard]] verbs::OrWhyNot<RecordFile> open_record_file(const std::string& path,
                                                           const RecordingProcess& process);

/// Call in the parent of processes that will record to `path`. Checks that they can write there,
/// and returns the absolute path. If `path` is a file, it is truncated, unless a process is still
/// writing it.
[[nodiscard]] verbs::OrWhyNot<std::string> prepare_record_path(const std::string& path);

}  // namespace anyrdma::transport
