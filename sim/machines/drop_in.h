// The drop-in libraries for programs in processes: where they are, and how a program gets them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace anyrdma::sim {

/// Finds the drop-in libraries (replacements of libibverbs and librdmacm) for code other than the
/// `anyrdma` command. If $ANYRDMA_PREFIX is set, the function looks only there: it names the PREFIX
/// of `./dev install`, or a directory with the libraries. Otherwise the function looks beside this
/// executable, beside the `anyrdma` in $PATH, and in /usr/local/lib/anyrdma. If it returns an empty
/// path, `problem` is a sentence with the remedy.
[[nodiscard]] std::filesystem::path find_drop_in(std::string& problem);

/// The variables with which a program finds them, each with its whole value.
[[nodiscard]] std::map<std::string, std::string> drop_in_variables(
    const std::filesystem::path& libraries);

/// Environment variables of a process in a simulated world.
[[nodiscard]] std::map<std::string, std::string> simulated_variables(
    const std::filesystem::path& libraries);

/// Of these, what each program finds whatever environment its parent gives it, as NAME=value.
[[nodiscard]] std::vector<std::string> kept_variables(
    const std::filesystem::path& libraries, const std::map<std::string, std::string>& of_host);

/// This process's environment with those variables instead of its own, as execve(2) takes it.
[[nodiscard]] std::vector<std::string> environment_with(
    const std::map<std::string, std::string>& variables);

}  // namespace anyrdma::sim
