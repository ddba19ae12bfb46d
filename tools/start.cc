#include "tools/start.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "sim/machines/executable.h"
#include "sim/machines/installation.h"
#include "base/printable.h"
#include "transport/open/environment.h"

namespace anyrdma::tools {
namespace {

using transport::environment;

constexpr const char* kDefaultSearchPath = "/usr/local/bin:/usr/bin:/bin";

Exit say_missing(const sim::Installation& installation) {
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

}  // namespace

void say(const std::string& sentence) {
  const std::string text = printable(with_short_words(sentence));
  std::fprintf(stderr, "anyrdma: %s\n", text.c_str());
}

std::string why_not_started(const std::error_code& error) {
  const std::string sentence = error.message() + ".";
  if (error == std::errc::operation_not_permitted) {
    return error.message() +
           ". The system refuses ptrace(2) or seccomp(2), which simulated hosts need. In a "
           "container, add --cap-add SYS_PTRACE --security-opt seccomp=unconfined.";
  }
  if (error == std::errc::too_many_files_open || error == std::errc::too_many_files_open_in_system)
    return sentence + " Raise the limit (ulimit -n).";
  if (error == std::errc::resource_unavailable_try_again)
    return sentence + " Raise the limit of processes (ulimit -u, cgroup).";
  if (error == std::errc::not_enough_memory)
    return sentence + " Raise the limit of memory (ulimit -v, cgroup).";
  if (error != std::errc::permission_denied) return sentence;
  // A simulated host is a namespace of its own: there a directory is entered by its path, not
  // inherited.
  std::error_code unknown;
  const std::filesystem::path here = std::filesystem::current_path(unknown);
  if (unknown || ::access(here.c_str(), X_OK) == 0) return sentence;
  return "this user may not enter '" + here.string() +
         "', the program's working directory. Start in another directory, or allow it: chmod a+x "
         "on the directory and its parents.";
}

boost::system::result<Start, Exit> prepare_start(const std::string& name) {
  const std::filesystem::path self = own_path();
  if (self.empty()) {
    say("the command cannot find its own file. Mount /proc, or call the command by its whole "
        "path.");
    return Exit::kFailed;
  }
  const sim::Installation installation = sim::find_libraries(self.parent_path());
  if (installation.directory.empty()) return say_missing(installation);
  const auto path = sim::find_program(name, environment("PATH", kDefaultSearchPath));
  if (!path) return say_unusable(name, path.error().value());
  if (const auto why = sim::why_not_served(*path)) {
    const std::string unserved = "'" + *path + "' cannot use anyrdma: it is " + *why;
    say(unserved + ". It is started without anyrdma.");
    return Start{.path = *path, .libraries = installation.directory, .unserved = unserved};
  }
  return Start{.path = *path, .libraries = installation.directory};
}

}  // namespace anyrdma::tools
