#include "tools/check.h"

#include <cstdint>
#include <cstdio>
#include <span>
#include <string_view>

#include "base/printable.h"
#include "check/entry_checkers.h"
#include "recording/reader.h"
#include "sim/mistakes.h"
#include "tools/exit.h"
#include "tools/process_check.h"
#include "tools/recording_files.h"
#include "tools/start.h"

namespace anyrdma::tools {
namespace {

using check::Checkers;
using recording::Entry;
using recording::EntryKind;

constexpr int kTrouble = static_cast<int>(Exit::kUsage);
constexpr int kFound = static_cast<int>(Exit::kFailed);

void print(const std::vector<std::string>& findings, const std::vector<std::string>& unjudged) {
  const auto print = [](const std::string& line) { std::printf("%s\n", printable(line).c_str()); };
  for (const std::string& each : findings) print(each);
  for (const std::string& each : unjudged) print("not judged: " + each);
}

/// What is not judged where no simulated device has watched the programs' memory and queues.
std::string unwatched() {
  return "buffers, keys and queues (" + sim::ownership_checkers() +
         "), since no simulated device has watched them";
}

/// Whether the entry is a finding of the device about buffers, keys or queues. A recording does not
/// contain the programs' memory, so the device's own finding is repeated.
bool is_of_device(const Entry& entry) {
  if (entry.kind != EntryKind::kFinding) return false;
  const std::string_view text = entry.texts[0];
  return sim::is_ownership_checker(text.substr(0, text.find(':')));
}

/// Judges the entries of a simulated run up to the end, or to the cut.
int judge_world(std::span<const std::uint8_t> bytes, const std::string& name) {
  Checkers checkers;
  recording::Reader reader(bytes);
  Entry entry;
  bool complete = true;
  bool has_work = false;
  bool watched = false;
  std::vector<std::string> of_device;
  while (reader.next(entry)) {
    if (entry.kind == EntryKind::kClosing && entry.numbers[0] != 0) complete = false;
    has_work = has_work || entry.kind == EntryKind::kPosted;
    watched = watched || (entry.kind == EntryKind::kAbout && entry.texts[0] == "watched");
    if (is_of_device(entry)) of_device.emplace_back(entry.texts[0]);
    checkers.on_entry(entry);
  }
  if (!reader.problem().empty()) say("'" + name + "': " + reader.problem() + ".");
  if (reader.truncated()) say("'" + name + "' is cut off: it is judged up to there.");
  complete = complete && !reader.truncated() && reader.problem().empty();
  checkers.finish(complete);
  std::vector<std::string> findings = checkers.findings();
  findings.insert(findings.end(), of_device.begin(), of_device.end());
  std::vector<std::string> unjudged = checkers.unjudged();
  if (!complete)
    unjudged.emplace_back(
        "what the programs have left behind or not reported, since the recording ends before they "
        "do");
  if (has_work && !watched) unjudged.push_back(unwatched());
  print(findings, unjudged);
  if (!reader.problem().empty()) return kTrouble;
  return findings.empty() ? 0 : kFound;
}

bool is_of_process(std::span<const std::uint8_t> bytes) {
  recording::Reader reader(bytes);
  Entry entry;
  while (reader.next(entry) && entry.kind == EntryKind::kAbout) {
    if (entry.texts[0] == "process") return true;
  }
  return false;
}

int judge_processes(const std::vector<std::string>& paths) {
  ProcessJudgement judged = judge_processes(paths, Taken::kAll);
  for (const std::string& each : judged.remarks) say(each);
  judged.unjudged.push_back(unwatched());
  print(judged.findings, judged.unjudged);
  if (judged.unread) return kTrouble;
  return judged.findings.empty() ? 0 : kFound;
}

}  // namespace

int check(const std::vector<std::string>& given) {
  const std::vector<std::string> paths = recording_files(given);
  if (paths.empty()) return kTrouble;
  if (paths.size() > 1) return judge_processes(paths);
  const RecordingBytes bytes = read_recording_or_say(paths.front());
  if (bytes == nullptr) return kTrouble;
  if (is_of_process(*bytes)) return judge_processes(paths);
  return judge_world(*bytes, paths.front());
}

}  // namespace anyrdma::tools
