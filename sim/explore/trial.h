// Everything that decides a run, as data: it prints, parses, and repeats the run on every machine.
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

/// A size of a scenario's workload, such as its number of connections.
struct Parameter {
  std::string name;
  std::uint64_t value = 1;
  std::uint64_t least = 1;  ///< shrinking stops there
  bool operator==(const Parameter&) const = default;
};

/// As text: parts, one a line or with "; " between them.
///   seed 7                                  the rest may be absent
///   seed 7 until 151; seed 80               the other's from decision 151 of the schedule on
///   schedule/2 random                       or "pct 2 200": changes, length
///   schedule/2 pct 0 200 at 31 70           with changes there
///   schedule/2 given 12:1 40:2              at point 12 the second, at 40 the third
///   slack 10us                              of the schedule
///   memory spec                             the seed decides; or relaxed, unordered
///   memory spec given 12:1 40:3             at choice 12 what was second, else as strict
///   set connections 2                       a parameter
///   maybe at 6us: remove client anyrdma0    a fault, as in fault_plan.h
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

  /// Why a run of it was none: one of its seeds begins behind the run's `choices` decisions. Empty:
  /// it was one.
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
  std::vector<Deviation> deviations{};  ///< the choices made; a Schedule that gives them repeats it
  std::string
      differs{};      ///< exploring fills it in: how a second run was another; empty: it was not
  bool died = false;  ///< its process did, or was killed: what its faults did is not known
  std::uint64_t choices = 0;                 ///< at how many points there was one
  std::vector<Reached> reached{};            ///< if it is wanted; exploring fills it in
  std::vector<Deviation> memory{};           ///< the same of memory: Memory::given
  std::map<std::string, bool> situations{};  ///< see findings.h; exploring fills it in
};

}  // namespace anyrdma::sim
