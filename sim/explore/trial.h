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

/// A size of a scenario's workload, such as its number of connections. Shrinking reduces it.
struct Parameter {
  std::string name;
  std::uint64_t value = 1;
  std::uint64_t least = 1;  ///< shrinking stops there
  bool operator==(const Parameter&) const = default;
};

/// The inputs of one run. As text, a trial is a list of parts, one a line or separated by "; ":
///   seed 7                                  required; all other parts may be absent
///   seed 7 until 151; seed 80               seed 80 from scheduling decision 151 on
///   schedule/2 random                       or "pct 2 200": changes and length of the schedule
///   schedule/2 pct 0 200 at 31 70           with priority changes at points 31 and 70
///   schedule/2 given 12:1 40:2              the second candidate at point 12, the third at point
///   40 slack 10us                              the scheduling delay of the schedule memory spec
///   the seed decides; or relaxed, unordered memory spec given 12:1 40:3             the second
///   candidate at choice 12, else as strict set connections 2                       a parameter of
///   the scenario maybe at 6us: remove client anyrdma0    a fault, as in fault_plan.h
struct Trial {
  std::uint64_t seed = 1;
  FaultPlan plan{};
  Schedule schedule{};
  std::vector<Parameter> workload{};
  Memory memory{};

  bool operator==(const Trial&) const = default;
  /// The options of a world for this trial: `base` with the trial's schedule and memory.
  [[nodiscard]] WorldOptions options(const WorldOptions& base = {}) const;
  /// The value of a parameter, or `otherwise` if it is not set.
  [[nodiscard]] std::uint64_t size(std::string_view name, std::uint64_t otherwise) const;

  /// Returns a sentence if the run ended before the trial was used completely: one of its branches
  /// (a change of seeds) begins after the `choices` scheduling decisions that the run made. Empty:
  /// the whole trial was used.
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
  std::vector<Deviation>
      deviations{};       ///< the scheduling choices; a Schedule with them repeats the run
  std::string differs{};  ///< how a second run of the trial differed; empty: not. Set by explore()
  bool died = false;      ///< the process of the run crashed or was killed; `faults` is unknown
  std::uint64_t choices = 0;        ///< the number of scheduling points with several candidates
  std::vector<Reached> reached{};   ///< coverage, if requested; set by explore()
  std::vector<Deviation> memory{};  ///< the devices' memory choices, for Memory::given
  std::map<std::string, bool>
      situations{};  ///< whether each occurred (findings.h); set by explore()
};

}  // namespace anyrdma::sim
