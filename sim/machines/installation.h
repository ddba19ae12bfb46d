// Finds the directory with the drop-in libraries (replacements of libibverbs and librdmacm) of this
// command.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace anyrdma::sim {

/// The libraries that a program needs to run on anyrdma. All must be in one directory.
inline constexpr std::array kLibraries{"libibverbs.so.1", "librdmacm.so.1", "libanyrdma.so",
                                       "libanyrdma-nodes.so", "libanyrdma-points.so"};

/// The result of find_libraries(). If no directory contains all libraries, `directory` is empty,
/// and `missing` lists the libraries that the directory `expected` lacks.
struct Installation {
  std::filesystem::path directory;
  std::filesystem::path expected;  ///< the likeliest place
  std::vector<std::string> missing;
};

/// Looks for the drop-in libraries beside the command: in ./lib (a build), then in ../lib/anyrdma
/// (an installation). `command_directory`: the directory of the running executable, with symbolic
/// links resolved.
[[nodiscard]] Installation find_libraries(const std::filesystem::path& command_directory);

}  // namespace anyrdma::sim
