#include "tools/run.h"

#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "tools/child.h"
#include "tools/installation.h"
#include "tools/program.h"
#include "transport/open/environment.h"
#include "transport/open/fault_account.h"
#include "transport/open/fault_file.h"

namespace anyrdma::tools {
namespace {

using transport::environment;

constexpr const char* kDefaultSearchPath = "/usr/local/bin:/usr/bin:/bin";

void say(const std::string& sentence) {
  std::fprintf(stderr, "anyrdma: %s\n", sentence.c_str());
}

Exit say_missing(const Installation& installation) {
  std::string names;
  for (const std::string& name : installation.missing) names += (names.empty() ? "" : ", ") + name;
  say("the drop-in libraries are not complete: " + installation.expected.string() + " lacks " +
      names + ". Build them with `./dev build`, or install anyrdma anew.");
  return Exit::kFailed;
}

Exit say_unusable(const std::string& name, int error) {
  if (error == EACCES) {
    say("'" + name + "' is not executable. Make it so (chmod +x), or name another program.");
    return Exit::kNotExecutable;
  }
  const bool is_path = name.find('/') != std::string::npos;
  say(is_path ? "there is no file '" + name + "'. Check the path."
              : "there is no program '" + name +
                    "' in PATH. Check the name, give a path, or install the package it is in.");
  return Exit::kUnknownProgram;
}

/// Each has a variable whose entries are separated by colons.
void prepend(const char* variable, const std::string& entry) {
  const std::string old = environment(variable);
  ::setenv(variable, (old.empty() ? entry : entry + ":" + old).c_str(), 1);
}

/// See verbs/c_api/device_nodes.cc. AddressSanitizer's runtime wants to be told that something may
/// come before it.
void load_first(const std::string& library) {
  prepend("LD_PRELOAD", library);
  prepend("ASAN_OPTIONS", "verify_asan_link_order=0");
}

/// UCX reads which IP a datagram came in from the completion's service level, where only Mellanox's
/// driver writes it, and drops all datagrams of other devices' IPv4 (as of Linux's rxe) unless it
/// is told not to look.
void set_defaults_of_programs() {
  ::setenv("UCX_UD_VERBS_ETH_DGID_CHECK", "n", 0);
}

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

/// Whoever ends a server does it this way; a crash is a failure of its own.
bool was_told_to_end(int status) {
  if (!WIFSIGNALED(status)) return false;
  const int signal = WTERMSIG(status);
  return signal == SIGHUP || signal == SIGINT || signal == SIGTERM || signal == SIGKILL;
}

/// Where this command lies, symbolic links resolved. Chroots and some containers have no /proc;
/// then it is what it was called by.
std::filesystem::path own_path() {
  std::error_code error;
  std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) return self;
  const auto* const called = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  if (called != nullptr) self = std::filesystem::canonical(called, error);
  return error ? std::filesystem::path() : self;
}

Exit execute(const std::string& path, std::vector<std::string> command) {
  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  // execvp, not execv: a script without #! runs in the shell, as it would without us.
  ::execvp(path.c_str(), arguments.data());
  const int error = errno;
  say("'" + path + "' cannot be started: " + std::strerror(error) + ".");
  return error == ENOENT ? Exit::kUnknownProgram : Exit::kNotExecutable;
}

/// The program may end in ways that leave it no time for the account, or never be ours at all, so
/// somebody has to stay.
int run_with_faults(const std::string& path, const RunOptions& options,
                    const transport::HostPlan& part) {
  auto account = transport::FaultAccount::create(part.plan.faults.size());
  if (!account) {
    say("no account of the faults can be kept: " + account.error().message() + ".");
    return static_cast<int>(Exit::kFailed);
  }
  set_faults(part, options, (*account)->name());
  const auto ending = run_child([&] { return execute(path, options.command); });
  if (!ending) {
    say("'" + path + "' cannot be started: " + ending.error().message() + ".");
    return static_cast<int>(Exit::kFailed);
  }
  if (ending->not_started) return static_cast<int>(*ending->not_started);
  const auto report = transport::report_of(
      (*account)->status(part.plan), environment("ANYRDMA_SEED", "1"), (*account)->processes());
  std::fputs(report.text.c_str(), stderr);
  const bool well = ending->status == 0 || was_told_to_end(ending->status);
  if (options.strict && report.missed && well) return static_cast<int>(Exit::kFaultMissed);
  return end_like(ending->status);
}

}  // namespace

int run(const RunOptions& options) {
  const std::string& name = options.command.front();
  if (!choose(options.choice)) return static_cast<int>(Exit::kUsage);
  transport::HostPlan part;
  if (!options.faults.empty()) {
    auto read = transport::read_fault_file(options.faults, options.host,
                                           transport::transport_of_environment());
    if (!read) {
      say(read.error().sentence);
      return static_cast<int>(Exit::kUsage);
    }
    part = std::move(*read);
  }
  const std::filesystem::path self = own_path();
  if (self.empty()) {
    say("it cannot be told where this command lies: mount /proc, or call it by its whole path.");
    return static_cast<int>(Exit::kFailed);
  }
  const Installation installation = find_libraries(self.parent_path());
  if (installation.directory.empty()) return static_cast<int>(say_missing(installation));
  const auto path = find_program(name, environment("PATH", kDefaultSearchPath));
  if (!path) return static_cast<int>(say_unusable(name, path.error().value()));
  if (const auto why = why_not_served(*path)) {
    say("'" + *path + "' will not run on anyrdma: it is " + *why + ". Starting it all the same.");
  }
  prepend("LD_LIBRARY_PATH", installation.directory.string());
  load_first((installation.directory / "libanyrdma-nodes.so").string());
  set_defaults_of_programs();
  if (!part.plan.faults.empty()) return run_with_faults(*path, options, part);
  if (!options.faults.empty()) {
    say_spared(options, part);
    unset_faults();
  }
  std::fflush(nullptr);
  return static_cast<int>(execute(*path, options.command));
}

}  // namespace anyrdma::tools
