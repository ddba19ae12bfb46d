#include "tools/start.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/printable.h"
#include "sim/machines/executable.h"
#include "sim/machines/installation.h"
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

Exit say_unusable(const std::string& name, const std::error_code& error) {
  say(sim::why_not_found(name, error));
  return error.value() == EACCES ? Exit::kNotExecutable : Exit::kUnknownProgram;
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
  if (!path) return say_unusable(name, path.error());
  if (const auto why = sim::why_not_served(*path)) {
    const std::string unserved = "'" + *path + "' cannot use anyrdma: it is " + *why;
    say(unserved + ". It is started without anyrdma.");
    return Start{.path = *path, .libraries = installation.directory, .unserved = unserved};
  }
  return Start{.path = *path, .libraries = installation.directory};
}

}  // namespace anyrdma::tools
