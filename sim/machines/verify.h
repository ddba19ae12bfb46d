// Runs a command of the user that judges a run by the files that the run has written.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/machines/run_directory.h"
#include "verbs/why_not.h"

namespace anyrdma::sim {

/// Owns a directory of temporary files, which the destructor removes.
class VerifyPlace {
 public:
  /// Creates the directory in `parent`, which a run directory contains. If `parent` is empty,
  /// creates a run directory on disk, which a later run removes if this process is killed.
  [[nodiscard]] static verbs::OrWhyNot<VerifyPlace> create(
      const std::filesystem::path& parent = {});
  VerifyPlace(VerifyPlace&& other) noexcept
      : own_(std::move(other.own_)), path_(std::exchange(other.path_, {})) {}
  VerifyPlace& operator=(VerifyPlace&&) = delete;
  ~VerifyPlace();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// False: the file cannot be written.
  [[nodiscard]] bool write(std::string_view name, std::string_view text) const;
  /// Makes a symbolic link `name` in the directory to the file `target` elsewhere. False: the link
  /// cannot be made.
  [[nodiscard]] bool link(std::string_view name, const std::filesystem::path& target) const;

 private:
  explicit VerifyPlace(std::filesystem::path path) : path_(std::move(path)) {}
  explicit VerifyPlace(std::unique_ptr<RunDirectory> own)
      : own_(std::move(own)), path_(own_->path()) {}

  std::unique_ptr<RunDirectory> own_;  ///< null: it is in another's
  std::filesystem::path path_;
};

/// How a command judges.
struct VerifyOptions {
  std::filesystem::path directory;                   ///< it works there
  std::map<std::string, std::string> environment{};  ///< beside that of this process

  /// The limit of real time of the command. After this time, the command and all processes that it
  /// has started are killed.
  std::chrono::milliseconds limit = std::chrono::seconds(20);
  /// Called from time to time. If the function returns true, the command ends. May be empty.
  std::function<bool()> interrupted{};
};

/// Returns the status of a program as a line without newline: "server/rping exit 0", "server/rping
/// signal 11" or "server/rping running".
[[nodiscard]] std::string status_line(std::string_view name, std::optional<int> status);

/// Runs a command that judges a run, with empty standard input. The command is found as execvp(3)
/// does. Returns an empty text if the command ended with status 0 or was interrupted. Otherwise
/// returns lines: "verify: ", the command's output up to 64 KiB, and how it ended. Call this
/// function while no other code of this process waits for all child processes.
[[nodiscard]] std::string verify(const std::vector<std::string>& command,
                                 const VerifyOptions& options);

}  // namespace anyrdma::sim
