// The drop-in libraries (replacements of libibverbs and librdmacm) for programs in processes:
// finding the libraries, and the environment with which a program uses them.
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

/// Returns the environment variables with which a program uses the drop-in libraries, each with its
/// whole value.
[[nodiscard]] std::map<std::string, std::string> drop_in_variables(
    const std::filesystem::path& libraries);

/// Environment variables of a process in a simulated world.
[[nodiscard]] std::map<std::string, std::string> simulated_variables(
    const std::filesystem::path& libraries);

/// Returns those of simulated_variables() that a program finds whatever environment its parent
/// gives it, each as NAME=value. `of_host` are the variables that the scenario sets for the host.
[[nodiscard]] std::vector<std::string> kept_variables(
    const std::filesystem::path& libraries, const std::map<std::string, std::string>& of_host);

/// Returns this process's environment as execve(2) takes it, with `variables` in place of its own
/// variables of the same names.
[[nodiscard]] std::vector<std::string> environment_with(
    const std::map<std::string, std::string>& variables);

}  // namespace anyrdma::sim
