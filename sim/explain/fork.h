// Two trials with different verdicts whose runs part at one scheduling decision.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/explain/probe.h"

namespace anyrdma::sim::explain {

/// Both trials have the choices of `common`, all of them before the decision `point`. There one of
/// them fails and the other one passes. Later both have the default order.
struct Fork {
  Trial common;
  std::uint64_t point = 0;
  std::uint32_t fails = 0;   ///< the choice with which the run fails
  std::uint32_t passes = 0;  ///< the choice with which the run passes

  [[nodiscard]] Trial failing() const { return with(fails); }
  [[nodiscard]] Trial passing() const { return with(passes); }

 private:
  [[nodiscard]] Trial with(std::uint32_t choice) const;
};

/// Bisects between a trial with the first `kept` of these choices, and one with all of them, which
/// have different verdicts; `fails` is that of the former. Returns the fork at the choice that
/// turns the verdict. nullopt: the search is over. The slack and the branches are those of `trial`.
/// `parts`: that of the probes, for the first choice that is not kept.
[[nodiscard]] std::optional<Fork> find_fork(const Trial& trial,
                                            const std::vector<Deviation>& choices, std::size_t kept,
                                            bool fails, verbs::Duration parts, const Judge& judge);

/// Returns the first choices, those before a decision.
[[nodiscard]] std::vector<Deviation> choices_before(const std::vector<Deviation>& choices,
                                                    std::uint64_t decision);

}  // namespace anyrdma::sim::explain
