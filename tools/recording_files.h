// The files of recordings that a command names.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace anyrdma::tools {

/// Returns the given files. A directory is replaced by all files in it whose names end in
/// .recording, in the order of their names. Empty: there are none, and an error message was
/// printed.
[[nodiscard]] std::vector<std::string> recording_files(const std::vector<std::string>& paths);

/// The content of a file, at an address that does not change, so that views into it stay valid.
using RecordingBytes = std::unique_ptr<std::vector<std::uint8_t>>;
/// Null: it cannot be read, which has been said.
[[nodiscard]] RecordingBytes read_recording_or_say(const std::string& path);

}  // namespace anyrdma::tools
