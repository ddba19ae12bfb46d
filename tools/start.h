// What a program needs to be started on the drop-in libraries: for `anyrdma run` and `anyrdma sim`.
#pragma once

#include <filesystem>
#include <string>

#include "tools/exit.h"
#include "verbs/result.h"

namespace anyrdma::tools {

/// A sentence on stderr.
void say(const std::string& sentence);

/// Where the program is, and where our libraries are.
struct Start {
  std::string path;
  std::filesystem::path libraries;
  std::string unserved{};  ///< why it will not use them, as it was said; empty: it will
};

/// For a name as execvp(3) takes it. An error has been said, with its remedy: kFailed, our
/// libraries are not there; kUnknownProgram, kNotExecutable.
[[nodiscard]] boost::system::result<Start, Exit> prepare_start(const std::string& name);

}  // namespace anyrdma::tools
