#include "tools/run.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/machines/drop_in.h"
#include "tools/child.h"
#include "tools/limits.h"
#include "tools/nodes.h"
#include "tools/run_check.h"
#include "tools/start.h"
#include "transport/open/environment.h"
#include "transport/open/fault_account.h"
#include "transport/open/fault_file.h"
#include "transport/open/real.h"
#include "transport/open/record_file.h"

namespace anyrdma::tools {
namespace {

using transport::environment;

// --- faults -------------------------------------------------------------------------------------

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Fine, but somebody may have mistyped a name.
void say_spared(const RunOptions& options, const transport::HostPlan& part) {
  say("the fault plan " + options.faults + " has nothing for the host '" + part.host +
      "', only for: " + listed(part.hosts) + ". The program runs without faults.");
}

/// The plan as text, so that nothing is left to find wrong when the program has begun.
void set_faults(const transport::HostPlan& part, const RunOptions& options,
                const std::string& account) {
  ::setenv("ANYRDMA_FAULTS", part.plan.to_string().c_str(), 1);
  ::setenv("ANYRDMA_FAULTS_HOST", part.host.c_str(), 1);
  if (options.seed) ::setenv("ANYRDMA_SEED", std::to_string(*options.seed).c_str(), 1);
  if (options.strict) ::setenv("ANYRDMA_FAULTS_STRICT", "1", 1);
  ::setenv("ANYRDMA_FAULTS_ACCOUNT", account.c_str(), 1);
}

/// What somebody else's plan may have left there.
void unset_faults() {
  for (const char* variable : {"ANYRDMA_FAULTS", "ANYRDMA_FAULTS_HOST", "ANYRDMA_FAULTS_STRICT",
                               "ANYRDMA_FAULTS_ACCOUNT"}) {
    ::unsetenv(variable);
  }
}

/// For programs that look into /sys for a device. Without a fabric they find none, and say so by
/// themselves.
void set_nodes() {
  ::unsetenv("ANYRDMA_NODES");
  if (transport::transport_of_environment() != "fabric") return;
  auto options = transport::options_of_environment();
  if (!options) return;
  options->record = {};  // this is not the program's life
  const auto opened = transport::open_real("fabric", *options);
  if (!opened) return;
  const std::string directory = make_nodes((*opened)->transport());
  if (!directory.empty()) ::setenv("ANYRDMA_NODES", directory.c_str(), 1);
}

/// The usual way to end a server; a crash is a failure of its own.
bool was_told_to_end(int status) {
  if (!WIFSIGNALED(status)) return false;
  const int signal = WTERMSIG(status);
  return signal == SIGHUP || signal == SIGINT || signal == SIGTERM || signal == SIGKILL;
}

/// False: nothing can be recorded there, which has been said. With --check, sets `check`.
bool set_record(const RunOptions& options, std::unique_ptr<RunCheck>& check) {
  if (options.record.empty() && !options.check) return true;
  std::string path;
  if (!options.record.empty()) {
    const auto prepared = transport::prepare_record_path(options.record);
    if (!prepared) {
      say(prepared.error().sentence);
      return false;
    }
    path = *prepared;
  }
  if (options.check) {
    check = RunCheck::begin(path);
    if (check == nullptr) return false;
    path = check->record();
  }
  ::setenv("ANYRDMA_RECORD", path.c_str(), 1);
  if (options.host.empty()) {
    ::unsetenv("ANYRDMA_RECORD_HOST");
  } else {
    ::setenv("ANYRDMA_RECORD_HOST", options.host.c_str(), 1);
  }
  return true;
}

Exit execute(const std::string& path, std::vector<std::string> command) {
  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  give_back_file_limit();
  // execvp, not execv: a script without #! runs in the shell, as it would without us.
  ::execvp(path.c_str(), arguments.data());
  const int error = errno;
  say("'" + path + "' cannot be started: " + std::strerror(error) + ".");
  return error == ENOENT ? Exit::kUnknownProgram : Exit::kNotExecutable;
}

/// Starts the program as a child, since it may end in ways that leave it no time for a report.
int run_and_report(const std::string& path, const RunOptions& options,
                   const transport::HostPlan& part, const RunCheck* check) {
  std::unique_ptr<transport::FaultAccount> account;
  if (!part.plan.faults.empty()) {
    auto made = transport::FaultAccount::create(part.plan.faults.size());
    if (!made) {
      say("the counts of faults cannot be kept in shared memory: " + made.error().message() + ".");
      return static_cast<int>(Exit::kFailed);
    }
    account = std::move(*made);
    set_faults(part, options, account->name());
  }
  const auto ending = run_child([&] { return execute(path, options.command); });
  if (!ending) {
    say("'" + path + "' cannot be started: " + ending.error().message() + ".");
    return static_cast<int>(Exit::kFailed);
  }
  if (ending->not_started) return static_cast<int>(*ending->not_started);
  const bool well = ending->status == 0 || was_told_to_end(ending->status);
  bool missed = false;
  if (account != nullptr) {
    const auto report = transport::report_of(
        account->status(part.plan), environment("ANYRDMA_SEED", "1"), account->processes());
    std::fputs(report.text.c_str(), stderr);
    missed = options.strict && report.missed;
  }
  const bool found = check != nullptr && !check->finish();
  if (well && found) return static_cast<int>(Exit::kFailed);
  if (well && missed) return static_cast<int>(Exit::kFaultMissed);
  return end_like(ending->status);
}

}  // namespace

int run(const RunOptions& options) {
  if (!choose(options.choice)) return static_cast<int>(Exit::kUsage);
  transport::HostPlan part;
  if (!options.faults.empty()) {
    auto read =
        transport::read_fault_file(options.faults, options.host,
                                   transport::fault_abilities(transport::transport_of_environment(),
                                                              transport::rails_of_environment()));
    if (!read) {
      say(read.error().sentence);
      return static_cast<int>(Exit::kUsage);
    }
    part = std::move(*read);
  }
  const auto start = prepare_start(options.command.front());
  if (!start) return static_cast<int>(start.error());
  set_nodes();
  std::unique_ptr<RunCheck> check;
  if (!set_record(options, check)) return static_cast<int>(Exit::kUsage);
  for (const auto& [variable, value] : sim::drop_in_variables(start->libraries))
    ::setenv(variable.c_str(), value.c_str(), 1);
  if (!options.faults.empty() && part.plan.faults.empty()) {
    say_spared(options, part);
    unset_faults();
  }
  if (!part.plan.faults.empty() || check != nullptr)
    return run_and_report(start->path, options, part, check.get());
  std::fflush(nullptr);
  return static_cast<int>(execute(start->path, options.command));
}

}  // namespace anyrdma::tools
