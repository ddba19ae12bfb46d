// An explanation as text for users, and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/explain/explanation.h"
#include "sim/explain/witness.h"

namespace anyrdma::sim::explain {

/// An explanation, with what the programs were doing.
struct Report {
  Explanation explanation{};
  std::optional<Witness::Pair> pair{};          ///< nullopt: there is no critical pair
  std::vector<Witness::Pair> ends{};            ///< of Explanation::ends
  std::vector<FaultWitness::Moment> moments{};  ///< of the faults of the trial that happened
  /// The first difference between the failing run and the nearest passing one, as lines; empty:
  /// unknown.
  std::string difference{};
  std::string replay{};  ///< the command that runs a trial: "anyrdma replay FILE"
  std::uint64_t runs = 0;
};

/// The nearest passing trial: that of the critical pair, else one with fewer choices of the memory
/// order, without a fault, or with strict memory; nullopt: none was found.
[[nodiscard]] std::optional<Trial> nearest_passing(const Explanation& explanation);
/// The failing trial that is to be compared with it.
[[nodiscard]] const Trial& nearest_failing(const Explanation& explanation);

/// Lines for people.
[[nodiscard]] std::string to_text(const Report& report);
/// One JSON object, and a newline. docs/explain.md lists its members.
[[nodiscard]] std::string to_json(const Report& report);

}  // namespace anyrdma::sim::explain
