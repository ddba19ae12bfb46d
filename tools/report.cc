#include "tools/report.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>

#include "base/printable.h"
#include "sim/scenarios/scenarios.h"
#include "tools/debugging.h"
#include "tools/start.h"

namespace anyrdma::tools {
namespace {

constexpr const char* kEnding = ".results";

/// Of the scenario, without what directories have a meaning for.
std::string file_name(const sim::Results& results) {
  std::string name = std::filesystem::path(results.scenario).filename();
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '.') c = '_';
  }
  return name + "." + std::to_string(results.shard) + "-of-" + std::to_string(results.shards) +
         kEnding;
}

/// 0, or what was in the way.
int write_whole(const std::string& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  std::string_view left = text;
  int error = 0;
  while (!left.empty() && error == 0) {
    const ssize_t written = ::write(file, left.data(), left.size());
    if (written >= 0) {
      left.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  if (error == 0 && ::fsync(file) != 0) error = errno;
  if (::close(file) != 0 && error == 0) error = errno;
  return error;
}

std::vector<std::string> files_at(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    if (entry.path().extension() == kEnding) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::optional<sim::Results> read_or_say(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (file) text.assign(std::istreambuf_iterator<char>(file), {});
  if (!file || file.bad()) {
    say("the results '" + path + "' cannot be read. Check the path.");
    return std::nullopt;
  }
  auto results = sim::Results::parse(text);
  if (!results) {
    say(path + ": " + results.error().sentence + ".");
    return std::nullopt;
  }
  return std::move(*results);
}

using ByScenario = std::map<std::string, std::vector<sim::NamedResults>>;

std::optional<ByScenario> read_all(const std::vector<std::string>& paths) {
  ByScenario all;
  for (const std::string& path : paths) {
    const std::vector<std::string> files = files_at(path);
    if (files.empty()) {
      say("there are no results in '" + path + "': no file's name ends with " + kEnding + ".");
      return std::nullopt;
    }
    for (const std::string& file : files) {
      auto results = read_or_say(file);
      if (!results) return std::nullopt;
      all[results->scenario].emplace_back(file, std::move(*results));
    }
  }
  return all;
}

}  // namespace

void print(const sim::Results& results, std::size_t parts) {
  const sim::Exploration& found = results.found;
  const std::string& name = results.scenario;
  std::printf("%s in %.1f s", printable(name + ": " + found.to_string()).c_str(),
              static_cast<double>(results.milliseconds) / 1000);
  if (parts != 0) std::printf(" of %zu shard%s", parts, parts == 1 ? "" : "s");
  std::printf("%s%s\n", found.out_of_time ? ", then the budget was used up" : "",
              found.interrupted ? ", interrupted" : "");
  const auto text = printable(found.differs + found.sightings() + found.other_failures());
  std::fputs(text.c_str(), stdout);
  const bool programs = sim::scenarios::find(name) == nullptr;
  for (const auto& [kind, failures] : found.kinds) {
    std::printf("\n%llu went wrong like this:\n%s\n",
                static_cast<unsigned long long>(failures.runs),
                printable(failures.first.to_string()).c_str());
    if (programs && !failures.first.command.empty())
      std::printf("debug: %s\n", printable(debug_command(failures.first.command)).c_str());
    if (!programs) std::printf("%s", failures.first.to_test(name).c_str());
  }
}

bool prepare_directory(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (!error && ::access(directory.c_str(), W_OK | X_OK) != 0)
    error = {errno, std::generic_category()};
  if (!error && !std::filesystem::is_directory(directory))
    error = {ENOTDIR, std::generic_category()};
  if (!error) return true;
  say("results cannot be written to the directory '" + directory + "': " + error.message() + ".");
  return false;
}

// Under another name first: a merge at the same time finds the whole file or none.
bool write(const sim::Results& results, const std::string& directory) {
  const std::string path = directory + "/" + file_name(results);
  const std::string draft = path + "." + std::to_string(::getpid());
  int error = write_whole(draft, results.to_text());
  if (error == 0 && ::rename(draft.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return true;
  ::unlink(draft.c_str());
  say("the results cannot be written to '" + path + "': " + std::strerror(error) + ".");
  return false;
}

ScenarioReport report_of(const sim::Results& results, const std::string& command,
                         const std::string& recording) {
  const sim::Exploration& found = results.found;
  ScenarioReport report{.command = command,
                        .scenario = results.scenario,
                        .sentence = found.to_string(),
                        .seconds = static_cast<double>(results.milliseconds) / 1000};
  const bool programs = sim::scenarios::find(results.scenario) == nullptr;
  for (const auto& [kind, failures] : found.kinds) {
    const sim::Failure& first = failures.first;
    ReportedFailure failure{.name = first.trial.to_string("; "),
                            .problem = first.outcome.problem,
                            .again = first.command};
    for (const fault::Fault& each : first.trial.plan.faults)
      failure.faults.push_back(fault::to_string(each));
    if (programs && !first.command.empty()) failure.debug = debug_command(first.command);
    if (found.failure && found.failure->command == first.command) failure.recording = recording;
    report.failures.push_back(std::move(failure));
  }
  return report;
}

Exit merge(const MergeCommand& command) {
  CiReports reports(command.junit);
  if (!reports.usable()) return Exit::kUsage;
  const auto all = read_all(command.paths);
  if (!all) return Exit::kUsage;
  std::vector<std::pair<sim::Results, std::size_t>> sums;
  for (const auto& [scenario, parts] : *all) {
    auto sum = sim::merge(parts, command.partial);
    if (!sum) {
      say(sum.error().sentence);
      return Exit::kUsage;
    }
    const std::string missing = sim::missing_shards(parts);
    if (!missing.empty())
      say("the report lacks the shards " + missing + " of " +
          std::to_string(parts[0].second.shards) + " of '" + scenario + "'.");
    sums.emplace_back(std::move(*sum), parts.size());
  }
  bool well = true;
  for (const auto& [sum, parts] : sums) {
    print(sum, parts);
    well = well && !sum.found.failure;
    if (reports.wanted()) well = reports.add(report_of(sum, "anyrdma merge", "")) && well;
    if (!command.must_see || sum.found.never_seen().empty()) continue;
    say("--must-see: some marked situations never occurred. They are listed above.");
    well = false;
  }
  std::fflush(stdout);
  return well ? Exit::kOk : Exit::kFailed;
}

}  // namespace anyrdma::tools
