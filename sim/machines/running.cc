#include "sim/machines/running.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/text.h"
#include "sim/machines/common_directory.h"
#include "sim/machines/drop_in.h"
#include "sim/machines/executable.h"
#include "sim/machines/verify.h"
#include "sim/mistakes.h"

namespace anyrdma::sim {
namespace {

std::filesystem::path libraries_or_throw() {
  std::string problem;
  std::filesystem::path found = find_drop_in(problem);
  if (found.empty()) throw StartError(problem);
  return found;
}

/// The file of a program, or a sentence.
std::string path_or_throw(const std::string& name) {
  const char* const search = std::getenv("PATH");
  const auto path = find_program(name, search == nullptr ? "/usr/bin:/bin" : search);
  if (path) return *path;
  throw StartError(why_not_found(name, path.error()));
}

/// Pairs as a sandbox wants them. Throws if there is no such directory.
tracee::CommonDirectories directories_of(const ProgramsOptions& options) {
  tracee::CommonDirectories all;
  for (const auto* const paths : {&options.share, &options.keep}) {
    const bool keeps = paths == &options.keep;
    for (const std::string& path : *paths) {
      std::string problem;
      const auto place = common_directory(path, keeps, problem);
      if (!place) throw StartError(problem + ".");
      all.emplace_back(keeps ? *place : "", *place);
    }
  }
  return all;
}

}  // namespace

// --- a program ----------------------------------------------------------------------------------

RunningProgram::RunningProgram(Programs& programs, std::string name)
    : programs_(programs),
      name_(std::move(name)),
      purpose_("the end of " + name_),
      ended_(programs.world().scheduler()) {
  ended_.set_purpose(purpose_.c_str());
}

std::optional<int> RunningProgram::exit_status() const {
  const auto status = program_->status();
  if (!status || !WIFEXITED(*status)) return std::nullopt;
  return WEXITSTATUS(*status);
}

std::optional<int> RunningProgram::ending_signal() const {
  const auto status = program_->status();
  if (!status || !WIFSIGNALED(*status)) return std::nullopt;
  return WTERMSIG(*status);
}

std::string RunningProgram::ending() const {
  if (!ended()) return "has not ended";
  return ending_text(*program_->status());
}

void RunningProgram::signal(int number) {
  programs_.machines_.sandbox().signal(*program_, number);
}

void RunningProgram::kill() {
  signal(SIGKILL);
}

// The unit is for all who wait: each passes it on.
bool RunningProgram::wait() {
  if (ended()) return true;
  if (Fibers::running() == nullptr) {
    return programs_.world_.run_until([this] { return ended() || programs_.nothing_more(); }) &&
           ended();
  }
  if (!ended_.wait()) return false;
  ended_.post();
  return true;
}

RunningProgram& ProgramHost::start(std::vector<std::string> command, const StartOptions& options) {
  return programs_.start(host_, std::move(command), options);
}

// --- all of them --------------------------------------------------------------------------------

Programs::Programs(World& world, const ProgramsOptions& options)
    : world_(world),
      description_(options.description),
      libraries_(libraries_or_throw()),
      machines_(world, {.common = directories_of(options),
                        .huge_pages = options.huge_pages,
                        .on_output = [this](const auto& line) { take(line); },
                        .on_end = [this](const auto& program) { on_end(program); },
                        .on_crash = [this](const auto& crash) { on_crash(crash); },
                        .on_remark =
                            [](std::string_view text) {
                              std::fprintf(stderr, "anyrdma: %.*s\n", static_cast<int>(text.size()),
                                           text.data());
                            }}) {}

Programs::~Programs() = default;

ProgramHost& Programs::add_host(std::string_view name,
                                std::initializer_list<std::string_view> words) {
  return add_host(name, words, description_);
}

ProgramHost& Programs::add_host(std::string_view name,
                                std::initializer_list<std::string_view> words,
                                const HostDescription& description) {
  auto host = machines_.add_host(std::string(name), {words.begin(), words.end()}, description);
  if (!host) throw StartError(host.error().sentence);
  hosts_.push_back(std::make_unique<ProgramHost>(*this, **host));
  return *hosts_.back();
}

RunningProgram& Programs::start(Host& host, std::vector<std::string>&& command,
                                const StartOptions& options) {
  if (command.empty()) throw StartError("a program to start is missing: name it first.");
  const std::string path = path_or_throw(command.front());
  std::string name = std::filesystem::path(command.front()).filename();
  const auto like = [&](const auto& each) {
    return each->name().substr(0, each->name().find('#')) == host.name() + "/" + name;
  };
  const auto before = std::ranges::count_if(running_, like);
  if (before != 0) name += "#" + std::to_string(before + 1);
  host.processes().announce(std::filesystem::path(command.front()).filename().string());
  auto variables = simulated_variables(libraries_);
  const auto of_host = machines_.variables(host);
  for (const auto& [key, value] : of_host) variables[key] = value;
  for (const auto& [key, value] : options.environment) variables[key] = value;
  auto running = std::make_unique<RunningProgram>(*this, host.name() + "/" + name);
  const auto started = machines_.sandbox().start(host, name,
                                                 {.path = path,
                                                  .arguments = std::move(command),
                                                  .environment = environment_with(variables),
                                                  .directory = options.directory,
                                                  .start = options.after,
                                                  .background = options.background,
                                                  .kept = kept_variables(libraries_, of_host)});
  if (!started) throw StartError(why_not_started(path, started.error()));
  running->program_ = *started;
  running_.push_back(std::move(running));
  return *running_.back();
}

void Programs::take(const programs::OutputLine& line) {
  for (const auto& each : running_) {
    if (each->name_ != line.program) continue;
    (each->output_ += line.text) += '\n';
    (line.error ? each->errors_ : each->printed_).append(line.text) += '\n';
  }
}

void Programs::on_end(const programs::Program& program) {
  for (const auto& each : running_) {
    if (each->program_ == &program) each->ended_.post();
  }
}

void Programs::on_crash(const programs::Crash& crash) {
  for (const auto& each : running_) {
    if (each->program_ == crash.program) each->crash_ = full_text(crash);
  }
}

std::string Programs::verify(std::vector<std::string> command, std::chrono::milliseconds limit) {
  if (command.empty()) throw StartError("a command to verify with is missing: name it first.");
  command.front() = std::filesystem::absolute(path_or_throw(command.front())).string();
  const auto place = VerifyPlace::create();
  if (!place) throw StartError(place.error().sentence);
  std::string statuses;
  bool written = true;
  for (const auto& each : running_) {
    std::string file = each->name_;
    std::ranges::replace_if(
        file, [](char c) { return c == '/' || c == '#'; }, '.');
    written &=
        place->write(file + ".out", each->printed_) && place->write(file + ".err", each->errors_);
    statuses += status_line(each->name_, each->program_->status()) + "\n";
  }
  written &= place->write("statuses", statuses);
  if (const std::string& record = world_.options().record; !record.empty())
    written &= place->link("recording", record);
  if (!written) return "verify: its directory cannot be filled\n";
  return sim::verify(command, {.directory = place->path(), .limit = limit});
}

bool Programs::nothing_more() {
  return machines_.is_quiet() || !machines_.sandbox().overrun().empty() ||
         (world_.mistakes() != nullptr && world_.mistakes()->is_stuck(world_.now()));
}

bool Programs::all_ended() {
  return machines_.sandbox().all_ended() &&
         std::ranges::none_of(world_.scheduler().fibers().all(), [this](const auto& fiber) {
           const bool is_program = std::ranges::any_of(
               hosts_, [&](const auto& each) { return &each->host() == fiber->host(); });
           return !is_program && fiber->ending() == Ending::kMustEnd && !fiber->abandoned();
         });
}

Result<void> Programs::run() {
  (void)world_.run_until([this] { return all_ended() || nothing_more(); });
  if (world_.mistakes() != nullptr && !all_ended()) world_.mistakes()->on_rest();
  world_.rest();
  if (all_ended()) return {};
  return verbs::errno_code(EDEADLK);
}

}  // namespace anyrdma::sim
