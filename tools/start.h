// What a program needs to be started on the drop-in libraries: for `anyrdma run` and `anyrdma sim`.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "tools/exit.h"
#include "verbs/result.h"

namespace anyrdma::tools {

/// A sentence on stderr.
void say(const std::string& sentence);

/// Where the program is, and the variables with which it finds our libraries, each with its whole
/// value.
struct Start {
  std::string path;
  std::map<std::string, std::string> variables;
  std::filesystem::path libraries;  ///< where ours are
};

/// For a name as execvp(3) takes it. An error has been said, with its remedy: kFailed, our
/// libraries are not there; kUnknownProgram, kNotExecutable.
[[nodiscard]] boost::system::result<Start, Exit> prepare_start(const std::string& name);

}  // namespace anyrdma::tools
