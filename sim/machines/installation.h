// Where the drop-in libraries of this command are.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace anyrdma::sim {

/// The libraries that a program needs to run on anyrdma, all in one directory.
inline constexpr std::array kLibraries{"libibverbs.so.1", "librdmacm.so.1", "libanyrdma.so",
                                       "libanyrdma-nodes.so", "libanyrdma-points.so"};

/// The answer of find_libraries. `directory` is empty when the libraries are not complete anywhere;
/// `missing` then says what the likeliest place lacks.
struct Installation {
  std::filesystem::path directory;
  std::filesystem::path expected;  ///< the likeliest place
  std::vector<std::string> missing;
};

/// Looks beside the command: in ./lib (as built), then in ../lib/anyrdma (as installed).
/// `command_directory` is where the running executable lies, symbolic links resolved.
[[nodiscard]] Installation find_libraries(const std::filesystem::path& command_directory);

}  // namespace anyrdma::sim
