#include "tools/common_directories.h"

#include <filesystem>
#include <string>
#include <system_error>

#include "sim/machines/named_directories.h"

namespace anyrdma::tools {

std::vector<std::pair<std::string, std::string>> common_directories(
    const ProgramScenario& scenario) {
  std::error_code error;
  std::string named = std::filesystem::absolute(scenario.file, error).string();
  for (const auto* const programs : {&scenario.programs, &scenario.background})
    for (const Placed& each : *programs) named += '\n' + each.command + '\n' + each.where;
  for (const auto& [name, value] : scenario.environment) named += '\n' + value;
  named += '\n' + scenario.directory;
  std::vector<std::pair<std::string, std::string>> common;
  for (const std::string& each : sim::named_directories(named)) common.push_back({each, each});
  common.insert(common.end(), scenario.common.begin(), scenario.common.end());
  return common;
}

}  // namespace anyrdma::tools
