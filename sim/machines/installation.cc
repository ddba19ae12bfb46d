#include "sim/machines/installation.h"

#include <system_error>

namespace anyrdma::sim {
namespace {

std::vector<std::string> missing_in(const std::filesystem::path& directory) {
  std::vector<std::string> missing;
  std::error_code ignored;
  for (const char* library : kLibraries) {
    if (!std::filesystem::exists(directory / library, ignored)) missing.emplace_back(library);
  }
  return missing;
}

}  // namespace

Installation find_libraries(const std::filesystem::path& command_directory) {
  Installation result;
  for (const char* place : {"lib", "../lib/anyrdma"}) {
    const std::filesystem::path directory = (command_directory / place).lexically_normal();
    std::vector<std::string> missing = missing_in(directory);
    if (missing.empty()) return {directory, directory, {}};
    // The likeliest place is the one where most of them are.
    if (result.expected.empty() || missing.size() < result.missing.size()) {
      result.expected = directory;
      result.missing = std::move(missing);
    }
  }
  return result;
}

}  // namespace anyrdma::sim
