// Runs a command of the user that judges a run by the files that the run has written.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "verbs/why_not.h"

namespace anyrdma::sim {

/// A directory of temporary files, removed at its end.
class VerifyPlace {
 public:
  /// Below `parent`; empty: where temporary files are.
  [[nodiscard]] static verbs::OrWhyNot<VerifyPlace> create(
      const std::filesystem::path& parent = {});
  VerifyPlace(VerifyPlace&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  VerifyPlace& operator=(VerifyPlace&&) = delete;
  ~VerifyPlace();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// False: the file cannot be written.
  [[nodiscard]] bool write(std::string_view name, std::string_view text) const;
  /// A symbolic link to a file that is elsewhere. False: it cannot be made.
  [[nodiscard]] bool link(std::string_view name, const std::filesystem::path& target) const;

 private:
  explicit VerifyPlace(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

/// How a command judges.
struct VerifyOptions {
  std::filesystem::path directory;                   ///< it works there
  std::map<std::string, std::string> environment{};  ///< beside that of this process

  /// Of real time. A command that takes longer is killed, with all that it has started.
  std::chrono::milliseconds limit = std::chrono::seconds(20);
  std::function<bool()> interrupted{};  ///< asked now and then; true ends it. May be empty
};

/// "server/rping exit 0", "signal 11", "running": a line without its end.
[[nodiscard]] std::string status_line(std::string_view name, std::optional<int> status);

/// Runs a command, found as execvp(3) does, with empty input. Returns an empty text if the command
/// ended with status 0 or was interrupted. Otherwise returns lines: "verify: " and the command's
/// output, up to 64 KiB, then how it ended. Call this function while no other code of this process
/// waits for all child processes.
[[nodiscard]] std::string verify(const std::vector<std::string>& command,
                                 const VerifyOptions& options);

}  // namespace anyrdma::sim
