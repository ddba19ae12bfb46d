// Makes the runs that an explanation asks for in several processes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/explain/follower.h"
#include "sim/explain/probe.h"

namespace anyrdma::sim::explain {

/// Runs a trial in the calling process: calls Follower::begin(), then lets the scheduler ask the
/// follower.
using DirectedRun = std::function<Outcome(const Trial& trial, Follower& follower)>;

struct RunOptions {
  unsigned processes = 1;
  std::chrono::nanoseconds patience = std::chrono::seconds(60);  ///< of CPU time, for one run
  std::function<bool()> stop{};  ///< true: the search is over; called from time to time
};

/// A judge (probe.h) that runs probes in forked processes. The results do not depend on the number
/// of processes. A process that dies is a failure of its run. Precondition: the caller has no other
/// threads.
class Pool {
 public:
  Pool(DirectedRun run, RunOptions options) : run_(std::move(run)), options_(std::move(options)) {}

  [[nodiscard]] std::vector<Answer> judge(const std::vector<Probe>& probes);
  /// The number of runs so far.
  [[nodiscard]] std::uint64_t runs() const { return runs_; }

 private:
  DirectedRun run_;
  RunOptions options_;
  std::uint64_t runs_ = 0;
  bool over_ = false;
};

}  // namespace anyrdma::sim::explain
