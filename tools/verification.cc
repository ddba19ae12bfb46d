#include "tools/verification.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "sim/machines/executable.h"
#include "tools/start.h"
#include "tools/words.h"

namespace anyrdma::tools {
namespace {

std::string variable_or(const char* name, const std::string& otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

/// The words of a command, the first one as a whole path. Empty: it cannot be run, which was said.
std::vector<std::string> command_of(const ProgramScenario& scenario, const VerifyCommand& verify) {
  std::vector<std::string> words = words_of(verify.command).value();
  const std::string named = path_beside(scenario.file, words.front());
  const auto path = sim::find_program(named, variable_or("PATH", "/usr/bin:/bin"));
  if (!path) {
    say(verify.where + ": there is no command '" + words.front() +
        "' to verify with, or it is not executable. Check its path, which counts from the file's "
        "directory.");
    return {};
  }
  words.front() = std::filesystem::absolute(*path).string();
  return words;
}

}  // namespace

std::string path_beside(const std::string& file, const std::string& word) {
  const std::filesystem::path path(word);
  if (path.is_absolute() || word.find('/') == std::string::npos) return word;
  std::error_code unknown;
  const auto beside = std::filesystem::absolute(file, unknown).parent_path() / path;
  const bool there = !file.empty() && std::filesystem::exists(beside, unknown);
  return there ? beside.lexically_normal().string() : word;
}

std::string program_path(const ProgramScenario& scenario, const std::string& word) {
  const auto copy = scenario.copies.find(word);
  return copy != scenario.copies.end() ? copy->second : path_beside(scenario.file, word);
}

std::optional<Verification> Verification::create(const ProgramScenario& scenario,
                                                 const std::filesystem::path& parent) {
  std::vector<std::vector<std::string>> commands;
  for (const VerifyCommand& each : scenario.verifications) {
    commands.push_back(command_of(scenario, each));
    if (commands.back().empty()) return std::nullopt;
  }
  auto place = sim::VerifyPlace::create(parent);
  if (!place) {
    say(place.error().sentence);
    return std::nullopt;
  }
  auto output = OutputFiles::create(place->path().string());
  if (!output) return std::nullopt;
  Verification verification(scenario, std::move(*place), std::move(*output));
  verification.commands_ = std::move(commands);
  return verification;
}

void Verification::use_recording(const std::string& path) {
  (void)place_.link("recording", path);  // a command that needs it says that it is missing
}

std::string Verification::run(std::string_view statuses, std::string_view trial,
                              std::string_view problem, const std::function<bool()>& interrupted) {
  const bool written = output_.finish() && place_.write("statuses", statuses) &&
                       place_.write("trial", trial) && place_.write("problem", problem);
  if (!written) return "verify: its directory '" + place_.path().string() + "' cannot be filled\n";
  std::error_code unknown;
  std::map<std::string, std::string> environment;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  environment["ANYRDMA"] = variable_or("ANYRDMA", self.string());
  environment["ANYRDMA_SCENARIO"] =
      std::filesystem::absolute(scenario_->file, unknown).parent_path().string();
  std::string problems;
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    const auto limit =
        std::chrono::ceil<std::chrono::milliseconds>(scenario_->verifications[i].limit);
    problems += sim::verify(commands_[i], {.directory = place_.path(),
                                           .environment = environment,
                                           .limit = limit,
                                           .interrupted = interrupted});
  }
  return problems;
}

}  // namespace anyrdma::tools
