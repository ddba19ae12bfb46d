#include "tools/check.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "check/entry_checkers.h"
#include "recording/reader.h"
#include "recording/sink.h"
#include "recording/view/merge.h"
#include "recording/view/process_file.h"
#include "tools/exit.h"
#include "tools/recording_files.h"
#include "tools/start.h"

namespace anyrdma::tools {
namespace {

using check::Checkers;
using recording::Entry;
using recording::EntryKind;

constexpr int kTrouble = static_cast<int>(Exit::kUsage);
constexpr int kFound = static_cast<int>(Exit::kFailed);
/// Of recordings that are merged in memory.
constexpr std::size_t kMergedBytesMax = std::size_t{1} << 31;

void print(const Checkers& checkers, bool complete) {
  for (const std::string& each : checkers.findings()) std::printf("%s\n", each.c_str());
  for (const std::string& each : checkers.unjudged()) std::printf("not judged: %s\n", each.c_str());
  if (!complete)
    std::printf(
        "not judged: what the programs have left behind, since the recording ends before "
        "they do\n");
}

/// Judges the entries up to the end, or to the cut.
int judge(std::span<const std::uint8_t> bytes, Checkers::Source source, const std::string& name) {
  Checkers checkers(source);
  recording::Reader reader(bytes);
  Entry entry;
  bool complete = true;
  while (reader.next(entry)) {
    if (entry.kind == EntryKind::kClosing && entry.numbers[0] != 0) complete = false;
    checkers.on_entry(entry);
  }
  if (!reader.problem().empty()) say("'" + name + "': " + reader.problem() + ".");
  if (reader.truncated()) say("'" + name + "' is cut off: it is judged up to there.");
  complete = complete && !reader.truncated() && reader.problem().empty();
  checkers.finish(complete);
  print(checkers, complete);
  if (!reader.problem().empty()) return kTrouble;
  return checkers.findings().empty() ? 0 : kFound;
}

bool is_of_process(std::span<const std::uint8_t> bytes) {
  recording::Reader reader(bytes);
  Entry entry;
  while (reader.next(entry) && entry.kind == EntryKind::kAbout) {
    if (entry.texts[0] == "process") return true;
  }
  return false;
}

int judge_processes(const std::vector<std::string>& paths,
                    const std::vector<RecordingBytes>& files) {
  std::vector<recording::ProcessFile> parts;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    recording::ReadProcessFile read = recording::read_process_file(*files[i]);
    if (!read.file) {
      say("'" + paths[i] + "' cannot be judged together with others: " + read.problem + ".");
      return kTrouble;
    }
    if (read.file->truncated) say("'" + paths[i] + "' is cut off: it is judged up to there.");
    parts.push_back(std::move(*read.file));
  }
  const auto sink = std::make_shared<recording::MemorySink>(kMergedBytesMax);
  const recording::Merged merged = recording::merge(std::move(parts), sink);
  if (!merged.problem.empty()) {
    say("they cannot be judged together: " + merged.problem + ".");
    return kTrouble;
  }
  if (!merged.exact)
    say("they are of several machines, or starts of one: times are as well as its clocks agree.");
  return judge(sink->bytes(), Checkers::Source::kProcesses, paths.front());
}

}  // namespace

int check(const std::vector<std::string>& given) {
  const std::vector<std::string> paths = recording_files(given);
  if (paths.empty()) return kTrouble;
  std::vector<RecordingBytes> files;
  for (const std::string& path : paths) {
    RecordingBytes bytes = read_recording_or_say(path);
    if (bytes == nullptr) return kTrouble;
    files.push_back(std::move(bytes));
  }
  if (paths.size() > 1 || is_of_process(*files.front())) return judge_processes(paths, files);
  return judge(*files.front(), Checkers::Source::kWorld, paths.front());
}

}  // namespace anyrdma::tools
