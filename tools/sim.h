// `anyrdma sim`: unmodified programs on simulated hosts, in virtual time.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/exit.h"

namespace anyrdma::tools {

class OpenBundle;

struct SimOptions {
  std::string file;  ///< with a scenario; empty: the rest says it all
  std::uint64_t seed = 1;
  std::string trial;  ///< with a seed, faults and an order, as explore printed it; empty: by seed
  std::vector<std::string> hosts;                               ///< NAME=ADDRESS[,ADDRESS...]
  std::vector<std::pair<std::string, std::string>> programs;    ///< host, command line
  std::vector<std::pair<std::string, std::string>> background;  ///< the same, of servers
  std::string faults;                                           ///< file with a plan; empty: none
  std::string memory;                                           ///< a profile; empty: the file's
  std::string capture;                                          ///< file to write; empty: none
  std::string record;                                           ///< likewise
  std::string command;              ///< that has the run again; for the recording
  std::string call_cost;            ///< of virtual time, "10us"; empty: 200ns
  std::string limit;                ///< of virtual time, "10s"; empty: a day
  std::vector<std::string> shared;  ///< paths of directories that the hosts have in common
  std::vector<std::string> kept;    ///< paths of directories of the machine
  std::string huge_pages;           ///< how many each host has; empty: none
  /// [HOST=]VALUE of `--processors`, `--ram` and `--kernel`, in this order.
  std::array<std::vector<std::string>, 3> hardware;
  std::string patience;  ///< with who computes, "10s"; empty: 60s
  std::string output;    ///< directory for what programs say; empty: to stdout and stderr
  std::string junit;     ///< file for a JUnit report; empty: none
  std::string cores;     ///< directory for core files at a failure; empty: none
  std::string bundle;    ///< file for a bundle; empty: none
  const OpenBundle* from = nullptr;  ///< the bundle that is replayed; null: none is
  bool times = false;                ///< precede the lines in the files of `output`
  bool buffered = false;             ///< standard output is buffered as stdio does it for a pipe
  bool strict = false;               ///< a remark ends the run
  bool trace = false;                ///< to stdout, at the end
  bool calls = false;                ///< system calls, to stderr
  bool quiet = false;                ///< no summary
  bool raw = false;                  ///< what programs say is not escaped
  bool gdb = false;                  ///< the run is debugged
  std::string socket;                ///< of gdb; empty: gdb is started
  std::string destination{};  ///< where gdb is to stop the run first; empty: at its beginning
};

/// Runs the programs of a scenario until all have ended. Returns 0 if each ended with status 0;
/// kFailed if one did not, or if nothing can happen any more; kUsage for an invalid option.
[[nodiscard]] int simulate(const SimOptions& options);

}  // namespace anyrdma::tools
