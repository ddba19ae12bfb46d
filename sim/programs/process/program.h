// A program that was started on a host, and its output.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transport/realtime/descriptor.h"
#include "verbs/time.h"

namespace anyrdma::sim {
class Host;
}

namespace anyrdma::sim::programs {

using transport::realtime::Descriptor;
using verbs::Duration;
using verbs::Instant;

/// A program on a host.
struct ProgramOptions {
  std::string path;                      ///< of the file that is executed
  std::vector<std::string> arguments;    ///< the first one is the program's name (argv[0])
  std::vector<std::string> environment;  ///< NAME=value
  std::string directory{};               ///< to work in; empty: that of this process
  int input = -1;                        ///< what it reads, from its beginning; -1: nothing
  Duration start{};                      ///< when, from now on

  /// whether the run ends without waiting for the program, for example a server
  bool background = false;
  /// variables as NAME=value that the program, and each program that it executes, finds in its
  /// environment whatever its parent passed to execve (new_program.h)
  std::vector<std::string> kept{};
};

class Program;

/// One line of output, without its end.
struct OutputLine {
  Instant time{};
  std::string_view program;  ///< "server/rping"
  const Program* source = nullptr;
  bool error = false;  ///< to stderr
  std::string_view text;
};

/// A program that was started. Owned by the sandbox.
class Program {
 public:
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Returns the program's status as of wait(2). nullopt: the program has not ended.
  [[nodiscard]] std::optional<int> status() const { return status_; }
  [[nodiscard]] bool background() const { return options_.background; }
  [[nodiscard]] const std::vector<std::string>& kept() const { return options_.kept; }
  /// Whether the host has lost power since the program started. In that case the program did not
  /// end by itself.
  [[nodiscard]] bool crashed() const { return crashed_; }

 private:
  friend class Sandbox;
  struct Stream {
    Descriptor from;
    std::string rest;  ///< of a line that has not ended
  };

  std::string name_;
  Host* host_ = nullptr;
  ProgramOptions options_;
  std::optional<int> status_;
  bool crashed_ = false;
  Stream out_;
  Stream error_;
};

}  // namespace anyrdma::sim::programs
