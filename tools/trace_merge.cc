// `anyrdma trace merge`.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "recording/sink.h"
#include "recording/view/merge.h"
#include "tools/exit.h"
#include "tools/recording_files.h"
#include "tools/start.h"
#include "tools/trace.h"

namespace anyrdma::tools {
namespace {

constexpr int kTrouble = static_cast<int>(Exit::kUsage);

std::optional<recording::ProcessFile> read_or_say(const std::string& path, RecordingBytes& bytes) {
  bytes = read_recording_or_say(path);
  if (bytes == nullptr) return std::nullopt;
  recording::ReadProcessFile read = recording::read_process_file(*bytes);
  if (read.file && !read.file->damage.empty()) read = {{}, read.file->damage};
  if (!read.file) {
    say("'" + path + "' cannot be merged: " + read.problem + ".");
    return std::nullopt;
  }
  if (read.file->truncated)
    say("'" + path + "' is truncated: what follows is the part that exists.");
  return std::move(*read.file);
}

bool is_one_of(const std::string& out, const std::vector<std::string>& files) {
  return std::ranges::any_of(files, [&out](const std::string& each) {
    std::error_code error;
    return std::filesystem::equivalent(out, each, error);
  });
}

int write_or_say(const std::string& out, std::vector<recording::ProcessFile> files) {
  const std::shared_ptr<recording::FileSink> sink = recording::FileSink::create(out);
  if (sink == nullptr) {
    say("'" + out + "' cannot be written: " + std::strerror(errno) + ". Check the path.");
    return kTrouble;
  }
  const std::size_t count = files.size();
  const recording::Merged merged = recording::merge(std::move(files), sink);
  if (!merged.problem.empty()) {
    say("the recordings cannot be merged: " + merged.problem + ".");
    return kTrouble;
  }
  if (sink->error() != 0) {
    say("'" + out + "' cannot be written to its end: " + std::strerror(sink->error()) + ".");
    return kTrouble;
  }
  if (!merged.exact)
    say("the recordings are of several machines or boots: their times are only as exact as the "
        "machines' clocks.");
  std::printf("%zu recordings in '%s', which have %zu messages in common\n", count, out.c_str(),
              merged.joined);
  return std::fflush(stdout) == 0 ? 0 : kTrouble;
}

}  // namespace

int trace_merge(const std::string& out, const std::vector<std::string>& files) {
  const std::vector<std::string> paths = recording_files(files);
  if (paths.empty()) return kTrouble;
  if (is_one_of(out, paths)) {
    say("'" + out + "' is one of the recordings: name another file for all of them.");
    return kTrouble;
  }
  std::vector<RecordingBytes> bytes(paths.size());
  std::vector<recording::ProcessFile> parts;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    auto part = read_or_say(paths[i], bytes[i]);
    if (!part) return kTrouble;
    parts.push_back(std::move(*part));
  }
  return write_or_say(out, std::move(parts));
}

}  // namespace anyrdma::tools
