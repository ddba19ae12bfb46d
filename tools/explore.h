// `anyrdma explore` and `anyrdma replay`: standard scenarios of the simulator under faults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/exit.h"

namespace anyrdma::tools {

struct ExploreCommand {
  std::string scenario;  ///< "all": one after the other; empty: they are listed
  std::uint64_t first_seed = 1;
  std::optional<std::uint64_t> seeds;  ///< 1000; with a budget, as many as it allows
  std::string faults = "standard";     ///< "standard", "none" or a file, text or JSON
  std::size_t faults_max = 4;
  std::size_t steps = 0;           ///< so many removals of devices placed at every step
  std::string schedule = "mixed";  ///< "fifo", "random", "pct" or "mixed"
  std::string memory;              ///< a profile; empty: the file's, else spec in half of the runs
  unsigned jobs = 0;               ///< 0: one per core
  std::string budget;              ///< "60s"; empty: none
  std::vector<std::string> sizes;  ///< "connections=2"
  bool keep_going = false;
  std::string only;       ///< a failure says this; others are counted
  bool buffered = false;  ///< of programs: standard output is buffered as for a pipe
  bool strict = false;    ///< of programs: what would be remarked on is a failure
  bool must_see = false;  ///< a situation that never occurred is a failure, too
  std::string shard;      ///< "2/4"; empty: as the environment says, see shard.h
  std::optional<std::uint64_t> shards;
  std::string results;  ///< a directory for what was found; empty: none
  std::string junit;    ///< file for a JUnit report; empty: none
  std::string record;   ///< a directory for the recording of a failure; empty: see explore.cc
};
/// Runs an exploration, prints its result and writes it to files. Returns kFailed if a run failed,
/// kUsage after an error message on stderr. After SIGINT, SIGTERM or SIGHUP, it prints what was
/// found so far, and the process ends.
[[nodiscard]] Exit explore(const ExploreCommand& command);

struct ReplayCommand {
  std::string scenario;       ///< or a bundle, which has a trial
  std::string trial;          ///< as sim/explore/trial.h has it; what explore printed
  std::string memory;         ///< a profile; empty: the trial's
  bool trace = false;         ///< print it
  bool strict = false;        ///< as of explore
  bool buffered = false;      ///< as of explore
  bool calls = false;         ///< of programs, the system calls that stop them
  bool raw = false;           ///< what programs say is not escaped
  std::string record{};       ///< a file for all that happens; empty: none
  std::string command{};      ///< that has the run again; for the recording
  std::string junit{};        ///< file for a JUnit report; empty: none
  std::string bundle{};       ///< file for a bundle; empty: none
  std::string cores{};        ///< directory for core files at a failure; empty: none
  bool gdb = false;           ///< the run is debugged
  std::string socket{};       ///< of gdb; empty: gdb is started
  std::string destination{};  ///< where gdb is to stop the run first; empty: at its beginning
};
/// Repeats one run and prints its outcome. Returns kFailed if the run failed, kUsage after an error
/// message on stderr.
[[nodiscard]] Exit replay(const ReplayCommand& command);

}  // namespace anyrdma::tools
