// What a program needs to be started on the drop-in libraries: for `anyrdma run` and `anyrdma sim`.
#pragma once

#include <boost/system/result.hpp>
#include <boost/throw_exception.hpp>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

#include "tools/exit.h"

namespace anyrdma::tools {

/// Prints a sentence on stderr. Control characters are escaped, and words that are longer than any
/// path are shortened: a sentence may quote files and options of any content.
void say(const std::string& sentence);

/// Where the program is, and where our libraries are.
struct Start {
  std::string path;
  std::filesystem::path libraries;
  std::string unserved{};  ///< why it will not use them, as it was said; empty: it will
};

/// For boost::system::result: reading the value of an error is a bug of the caller.
[[noreturn]] inline void throw_exception_from_error(Exit, const boost::source_location& where) {
  boost::throw_exception(std::logic_error("what cannot be started is started"), where);
}

/// Finds the program `name`, as execvp(3) does, and what it needs to run on the drop-in libraries.
/// Errors, after a message with the remedy: kFailed (the libraries are missing), kUnknownProgram,
/// kNotExecutable.
[[nodiscard]] boost::system::result<Start, Exit> prepare_start(const std::string& name);

}  // namespace anyrdma::tools
