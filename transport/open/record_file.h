// Which file a process records into.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "recording/sink.h"
#include "verbs/why_not.h"

namespace anyrdma::transport {

/// Who records.
struct RecordingProcess {
  std::string host{};  ///< as lanes name it
  std::string program{};
  pid_t pid = 0;
  bool named = false;  ///< `host` is more than program and process
};

/// This one. `host`: what it is to be called; empty: PROGRAM[PID].
[[nodiscard]] RecordingProcess this_process(const std::string& host);

struct RecordFile {
  std::unique_ptr<recording::FileSink> sink;
  std::string path;
  bool another = false;  ///< not the path that was asked for: another process has that one
};

/// A file of the process's own. `path` is a directory, in which it is called after the process,
/// "client.rping.812.recording", or the file itself: whoever is the first takes it, and all others
/// are given PATH.PID. No file that has something in it is written over.
[[nodiscard]] verbs::OrWhyNot<RecordFile> open_record_file(const std::string& path,
                                                           const RecordingProcess& process);

/// For whoever starts the processes that are to record there: the whole path, once it is certain
/// that they can. A file is made anew, unless a process still writes it.
[[nodiscard]] verbs::OrWhyNot<std::string> prepare_record_path(const std::string& path);

}  // namespace anyrdma::transport
