#include "tools/process_check.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "check/entry_checkers.h"
#include "recording/reader.h"
#include "recording/sink.h"
#include "recording/view/merge.h"
#include "recording/view/process_file.h"
#include "tools/recording_files.h"

namespace anyrdma::tools {
namespace {

using check::Checkers;
using recording::ProcessFile;

/// Of recordings that are merged in memory.
constexpr std::size_t kMergedBytesMax = std::size_t{1} << 31;

/// The process that records to a file holds its lock (transport/open/record_file.h).
bool is_being_written(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool locked = ::flock(file, LOCK_SH | LOCK_NB) != 0;
  ::close(file);
  return locked;
}

std::string name_of(const ProcessFile& file) {
  return "'" + std::string(file.lanes.front().name) + "'";
}

/// Devices of others say nothing of the work that they do.
bool has_work(const ProcessFile& file) {
  const std::string_view transport = file.told("transport");
  return transport != "ucma" && transport != "rxe";
}

/// One file, if it can be read. `running`: its process had not ended before it was read.
void take(const std::string& path, std::span<const std::uint8_t> bytes, bool running,
          std::vector<ProcessFile>& parts, ProcessJudgement& judged) {
  recording::ReadProcessFile read = recording::read_process_file(bytes);
  if (!read.file) {
    judged.remarks.push_back("'" + path + "' cannot be judged: " + read.problem + ".");
    judged.unread = true;
    return;
  }
  ProcessFile& file = *read.file;
  if (!file.damage.empty()) {
    judged.remarks.push_back("'" + path + "' is damaged, " + file.damage +
                             ": it is judged up to there.");
    judged.unread = true;
  } else if (file.truncated) {
    if (running) {
      judged.unjudged.push_back("what the process " + std::string(file.told("process")) +
                                " does, " + name_of(file) + ": it is still running");
      return;
    }
    judged.remarks.push_back("'" + path + "' is cut off: it is judged up to there.");
  }
  if (!has_work(file))
    judged.unjudged.push_back("the work requests of " + name_of(file) +
                              ": its device is not anyrdma's, so only its calls and events are "
                              "recorded");
  parts.push_back(std::move(file));
}

void judge(std::span<const std::uint8_t> merged, bool complete, ProcessJudgement& judged) {
  Checkers checkers(Checkers::Source::kProcesses);
  recording::Reader reader(merged);
  recording::Entry entry;
  while (reader.next(entry)) checkers.on_entry(entry);
  complete = complete && !reader.truncated();
  checkers.finish(complete);
  judged.findings = checkers.findings();
  for (std::string& each : checkers.unjudged()) judged.unjudged.push_back(std::move(each));
  if (!complete)
    judged.unjudged.emplace_back(
        "what the programs have not reported, since a recording ends before its program does");
}

}  // namespace

ProcessJudgement judge_processes(const std::vector<std::string>& paths, Taken taken) {
  ProcessJudgement judged;
  std::vector<RecordingBytes> kept;  // views point into them
  std::vector<ProcessFile> parts;
  for (const std::string& path : paths) {
    const bool running = taken == Taken::kEnded && is_being_written(path);
    kept.push_back(read_recording_or_say(path));
    if (kept.back() == nullptr) {
      judged.unread = true;
    } else {
      take(path, *kept.back(), running, parts, judged);
    }
  }
  if (parts.empty()) return judged;
  const bool complete = std::ranges::none_of(parts, &ProcessFile::truncated);
  const auto sink = std::make_shared<recording::MemorySink>(kMergedBytesMax);
  const recording::Merged merged = recording::merge(std::move(parts), sink);
  if (!merged.problem.empty()) {
    judged.remarks.push_back("the recordings cannot be judged together: " + merged.problem + ".");
    judged.unread = true;
    return judged;
  }
  if (!merged.exact)
    judged.remarks.emplace_back(
        "the recordings are of several machines or boots: their times are only as exact as the "
        "machines' clocks.");
  judge(sink->bytes(), complete, judged);
  return judged;
}

}  // namespace anyrdma::tools
