// The trial: all data that determine one run of a scenario. A trial can be printed and parsed, and
// repeats the run on every machine.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/coverage.h"
#include "sim/fault_plan.h"
#include "sim/faults.h"
#include "sim/options.h"

namespace anyrdma::sim {

class World;

/// A parameter of a scenario that sets the size of its workload, such as the number of connections.
/// Shrinking of a failure reduces the parameter.
struct Parameter {
  std::string name;
  std::uint64_t value = 1;
  std::uint64_t least = 1;  ///< shrinking stops there
  bool operator==(const Parameter&) const = default;
};

/// The inputs of one run. As text, a trial is a list of parts, one a line or separated by "; ":
///   seed 7                      the random numbers come from seed 7; the only required part
///   seed 7 until 151; seed 80   seed 80 replaces seed 7 from scheduling decision 151 on
///   schedule/2 random           each scheduling choice is random
///   schedule/2 pct 2 200        random priorities with 2 changes in the first 200 decisions
///   schedule/2 pct 0 200 at 31  random priorities, 0 changes in the first 200 decisions, one at 31
///   schedule/2 given 12:1 40:2  candidate 1 at decision 12, 2 at decision 40, else candidate 0
///   slack 10us                  a ready program may be kept off the CPU for 10 us
///   memory spec                 the memory ordering of devices; or "relaxed", "unordered"
///   memory spec given 12:1      the devices' memory choice 12 is 1, all others are 0 (as strict)
///   set connections 2           the scenario's workload parameter "connections" is 2
///   maybe at 6us: remove client anyrdma0   a fault of the run, in the syntax of fault_plan.h
struct Trial {
  std::uint64_t seed = 1;
  FaultPlan plan{};
  Schedule schedule{};
  std::vector<Parameter> workload{};
  Memory memory{};

  bool operator==(const Trial&) const = default;
  /// Returns the options of a world in which this trial runs: `base` with the trial's schedule and
  /// memory.
  [[nodiscard]] WorldOptions options(const WorldOptions& base = {}) const;
  /// Returns the value of the workload parameter `name`, or `otherwise` if the trial does not set
  /// it.
  [[nodiscard]] std::uint64_t size(std::string_view name, std::uint64_t otherwise) const;

  /// Checks whether the run has used the whole trial. Returns a sentence if the run ended before
  /// one of the trial's branches (a change of seeds at a scheduling decision). `choices`: the
  /// number of scheduling decisions that the run made. Empty: the whole trial was used.
  [[nodiscard]] std::string unreached(std::uint64_t choices) const;

  /// `separator` is "\n" or "; ".
  [[nodiscard]] std::string to_string(std::string_view separator = "; ") const;
  /// The error's line is the part's number.
  [[nodiscard]] static PlanResult<Trial> parse(std::string_view text);
};

/// The result of a run.
struct Outcome {
  std::string problem{};  ///< empty: all is well
  std::uint64_t trace_hash = 0;
  std::vector<verbs::Duration> steps{};  ///< the instants at which something happened, in order
  std::vector<FaultStatus> faults{};
  /// Scheduling choices of the run; a schedule with these deviations repeats it.
  std::vector<Deviation> deviations{};

  /// How a second run of the trial differed from this one; empty: no difference. Set by explore().
  std::string differs{};

  /// The process of the run crashed or was killed. If true, `faults` is unknown.
  bool died = false;
  std::uint64_t choices = 0;        ///< the number of scheduling points with several candidates
  std::vector<Reached> reached{};   ///< coverage, if requested; set by explore()
  std::vector<Deviation> memory{};  ///< the devices' memory choices, for Memory::given

  /// For each situation that was reported (findings.h), whether it occurred. Set by explore().
  std::map<std::string, bool> situations{};
};

}  // namespace anyrdma::sim
