#include "sim/machines/drop_in.h"

#include <cstdlib>
#include <string_view>
#include <system_error>

#include "sim/machines/executable.h"
#include "sim/machines/installation.h"

extern char** environ;

namespace anyrdma::sim {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name, const char* otherwise = "") {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

/// Each has a variable whose entries are separated by colons.
std::string with_entry(const char* name, const std::string& entry) {
  const std::string old = variable(name);
  return old.empty() ? entry : entry + ":" + old;
}

/// What programs in a simulated world load before all else.
std::string preloaded(const fs::path& libraries) {
  return (libraries / "libanyrdma-nodes.so").string() + ":" +
         (libraries / "libanyrdma-points.so").string();
}

}  // namespace

fs::path find_drop_in(std::string& problem) {
  std::error_code ignored;
  std::vector<fs::path> places;
  if (const std::string prefix = variable("ANYRDMA_PREFIX"); !prefix.empty()) {
    places = {fs::path(prefix) / "lib/anyrdma", fs::path(prefix)};
  } else {
    places.push_back(fs::read_symlink("/proc/self/exe", ignored).parent_path());
    const auto command = find_program("anyrdma", variable("PATH", "/usr/local/bin:/usr/bin:/bin"));
    if (command) places.push_back(fs::canonical(*command, ignored).parent_path());
    places.emplace_back("/usr/local/lib/anyrdma");
  }
  std::string looked;
  for (const fs::path& place : places) {
    const Installation found = find_libraries(fs::absolute(place, ignored));
    if (!found.directory.empty()) return found.directory;
    looked += (looked.empty() ? "" : ", ") + found.expected.string();
  }
  problem = "the drop-in libraries are not there (looked in " + looked +
            "). Install them with `./dev install PREFIX`, and say ANYRDMA_PREFIX=PREFIX.";
  return {};
}

std::map<std::string, std::string> drop_in_variables(const fs::path& libraries) {
  std::map<std::string, std::string> all;
  all["LD_LIBRARY_PATH"] = with_entry("LD_LIBRARY_PATH", libraries.string());
  // See verbs/c_api/device_nodes.cc. AddressSanitizer's runtime wants to be told that something may
  // come before it.
  all["LD_PRELOAD"] = with_entry("LD_PRELOAD", (libraries / "libanyrdma-nodes.so").string());
  all["ASAN_OPTIONS"] = with_entry("ASAN_OPTIONS", "verify_asan_link_order=0");
  // UCX reads which IP a datagram came in from the completion's service level, where only
  // Mellanox's driver writes it, and drops all datagrams of other devices' IPv4 (as of Linux's rxe)
  // unless it is told not to look.
  all["UCX_UD_VERBS_ETH_DGID_CHECK"] = variable("UCX_UD_VERBS_ETH_DGID_CHECK", "n");
  return all;
}

std::map<std::string, std::string> simulated_variables(const fs::path& libraries) {
  auto all = drop_in_variables(libraries);
  // See sim/points. It is there whether or not anybody asks: it moves the addresses of others.
  all["LD_PRELOAD"] = with_entry("LD_PRELOAD", preloaded(libraries));
  return all;
}

std::vector<std::string> kept_variables(const fs::path& libraries,
                                        const std::map<std::string, std::string>& of_host) {
  std::vector<std::string> all{"LD_LIBRARY_PATH=" + libraries.string(),
                               "LD_PRELOAD=" + preloaded(libraries),
                               "ASAN_OPTIONS=verify_asan_link_order=0"};
  for (const auto& [name, value] : of_host) all.push_back(name + "=" + value);
  return all;
}

std::vector<std::string> environment_with(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> all;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string entry = *each;
    if (!variables.contains(entry.substr(0, entry.find('=')))) all.push_back(entry);
  }
  for (const auto& [name, value] : variables) all.push_back(name + "=" + value);
  return all;
}

}  // namespace anyrdma::sim
