#include "tools/recording_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

#include "tools/start.h"

namespace anyrdma::tools {
namespace {

constexpr std::string_view kEnding = ".recording";

}  // namespace

std::vector<std::string> recording_files(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (const auto& each : std::filesystem::directory_iterator(path, error)) {
      if (each.path().string().ends_with(kEnding)) found.push_back(each.path().string());
    }
    std::ranges::sort(found);
    if (found.empty()) {
      say("there is no recording in '" + path + "': none of its files ends with .recording.");
      return {};
    }
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

RecordingBytes read_recording_or_say(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  auto bytes = std::make_unique<std::vector<std::uint8_t>>(std::istreambuf_iterator<char>(file),
                                                           std::istreambuf_iterator<char>());
  if (file.is_open() && !file.bad()) return bytes;
  say("'" + path + "' cannot be read. Check the path.");
  return nullptr;
}

}  // namespace anyrdma::tools
