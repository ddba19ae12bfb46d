// The files of recordings that a command names.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace anyrdma::tools {

/// The files; a directory stands for all that end with .recording in it, in the order of their
/// names. Empty: there is none, which has been said.
[[nodiscard]] std::vector<std::string> recording_files(const std::vector<std::string>& paths);

/// The content of a file, which stays where it is for views into it.
using RecordingBytes = std::unique_ptr<std::vector<std::uint8_t>>;
/// Null: it cannot be read, which has been said.
[[nodiscard]] RecordingBytes read_recording_or_say(const std::string& path);

}  // namespace anyrdma::tools
