// A pair of rping processes on two simulated hosts, and the processor time of such runs.
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "sim/machines/drop_in.h"
#include "sim/machines/executable.h"
#include "sim/machines/machines.h"
#include "sim/world.h"

namespace anyrdma::bench {

inline double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

/// Of this process, and of those that it has seen end.
inline double processor_seconds() {
  double seconds = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ::getrusage(who, &usage);
    seconds += seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  }
  return seconds;
}

/// rping and the libraries for it, which are beside this program.
class RpingPair {
 public:
  /// `problem` is set if there is no rping or no library.
  explicit RpingPair(std::string& problem) {
    const auto found = sim::find_program("rping", "/usr/bin:/usr/local/bin");
    if (!found) {
      problem = "there is no rping (Debian: rdmacm-utils)";
      return;
    }
    path_ = *found;
    const std::string own = std::filesystem::read_symlink("/proc/self/exe");
    ::setenv("ANYRDMA_PREFIX", (own + ".runfiles/anyrdma/tools/bin").c_str(), 0);
    libraries_ = sim::find_drop_in(problem);
  }

  /// Runs a server and a client, each with the next seed. `reuse`: the run uses the namespaces of
  /// the last one that did so, as in `anyrdma explore`. False: a program did not end with status 0.
  [[nodiscard]] bool run(const sim::WorldOptions& options, std::size_t ping_pongs,
                         bool reuse = true) {
    sim::World world(++seed_, options);
    sim::Machines machines(world, {}, reuse ? &premises_ : nullptr);
    const auto server = machines.add_host("server", {"10.0.0.1"});
    const auto client = machines.add_host("client", {"10.0.0.2"});
    if (!server || !client) return false;
    const std::string times = std::to_string(ping_pongs);
    using std::chrono::milliseconds;
    if (!start(machines, **server, {"rping", "-s", "-a", "10.0.0.1", "-C", times}, milliseconds(0)))
      return false;
    if (!start(machines, **client, {"rping", "-c", "-a", "server", "-C", times}, milliseconds(10)))
      return false;
    (void)world.run_until([&] { return machines.sandbox().all_ended(); },
                          verbs::Instant{} + std::chrono::hours(1));
    for (const auto& program : machines.sandbox().programs()) {
      if (program->status() != 0) return false;
    }
    return true;
  }

 private:
  [[nodiscard]] bool start(sim::Machines& machines, sim::Host& host, std::vector<std::string> words,
                           sim::Duration when) const {
    auto variables = sim::simulated_variables(libraries_);
    for (const auto& [key, value] : machines.variables(host)) variables[key] = value;
    return machines.sandbox()
        .start(host, "rping",
               {.path = path_,
                .arguments = std::move(words),
                .environment = sim::environment_with(variables),
                .start = when})
        .has_value();
  }

  std::string path_;
  std::filesystem::path libraries_;
  sim::Premises premises_;
  std::uint64_t seed_ = 0;
};

}  // namespace anyrdma::bench
