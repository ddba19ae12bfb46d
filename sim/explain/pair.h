// The critical pair: two neighbouring steps of a run whose exchange turns the verdict.
#pragma once

#include <cstdint>
#include <optional>

#include <vector>

#include "sim/explain/fork.h"
#include "sim/explain/probe.h"

namespace anyrdma::sim::explain {

struct CriticalPair {
  Trial fails;   ///< a complete trial in which `first` runs before `second`, and which fails
  Trial passes;  ///< a complete trial in which they run in the other order, and which passes
  std::uint64_t step = 0;    ///< the number of steps that both runs have in common
  std::uint64_t point = 0;   ///< the number of scheduling decisions in these steps
  std::uint64_t first = 0;   ///< the mover (Step::mover) that runs first in the failing run
  std::uint64_t second = 0;  ///< the mover that runs first in the passing run
  verbs::Duration time{};    ///< of the exchange
};

/// Searches between the two runs of a fork. First, a run makes more and more steps of the failing
/// run, and then those of the passing run in their order. Then the last of the failing run's steps
/// is moved behind more and more steps of the passing run. Both searches are bisected, so the
/// number of runs grows with the logarithm of the number of steps. nullopt: the search is over, or
/// the two runs of the fork do not part as they should.
[[nodiscard]] std::optional<CriticalPair> find_pair(const Fork& fork, const Judge& judge);

/// Searches in the same way between the steps of any two runs of which one fails. Both begin with
/// the choices of `common`, which has no others, and have all steps up to the first one that
/// differs in common.
[[nodiscard]] std::optional<CriticalPair> find_pair_between(const Trial& common,
                                                            const std::vector<Step>& failing,
                                                            const std::vector<Step>& passing,
                                                            const Judge& judge);

/// The number of steps that both runs have in common.
[[nodiscard]] std::size_t in_common(const std::vector<Step>& one, const std::vector<Step>& other);

}  // namespace anyrdma::sim::explain
