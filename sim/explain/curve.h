// How likely a failure is if a run goes on from some decision with other random numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/explain/probe.h"

namespace anyrdma::sim::explain {

/// Runs that repeat the failing run up to a decision, and then go on with other seeds.
struct CurvePoint {
  std::uint64_t decision = 0;
  verbs::Duration time{};  ///< of the decision in the failing run
  std::size_t runs = 0;
  std::size_t failures = 0;

  [[nodiscard]] double share() const {
    return runs == 0 ? 0 : static_cast<double>(failures) / static_cast<double>(runs);
  }
};

struct Curve {
  std::vector<CurvePoint> points{};  ///< by decision; the last one is the failing run itself
  std::size_t jump = 0;  ///< the index of the point from which the share rises most to the next one

  /// The passing run that repeats most of the failing run; nullopt: none passed.
  struct Passing {
    std::uint64_t from = 0;            ///< the decision up to which both runs are the same
    verbs::Duration time{};            ///< of that decision
    std::vector<Deviation> choices{};  ///< all of the passing run
    std::vector<Branch> branches{};    ///< of its trial
  };
  std::optional<Passing> passing{};
};

struct CurveOptions {
  std::size_t points = 16;  ///< more only until the last decision is found
  std::size_t runs = 8;     ///< at each point
};

/// Bisects for the last decision from which a run can pass. `failing` is a trial with
/// Policy::kGiven, `run` its answer with steps. If the search is over early, the curve has fewer
/// points.
[[nodiscard]] Curve begin_curve(const Trial& failing, const Answer& run, const Judge& judge,
                                const CurveOptions& options);
/// Adds points: the interval in which the share of failures changes most is halved again and again.
/// The other arguments are those of begin_curve().
void complete_curve(Curve& curve, const Trial& failing, const Answer& run, const Judge& judge,
                    const CurveOptions& options);

}  // namespace anyrdma::sim::explain
