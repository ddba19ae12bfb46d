// The other ends of the interval in which a step makes a run fail.
#pragma once

#include <vector>

#include "sim/explain/pair.h"
#include "sim/explain/probe.h"

namespace anyrdma::sim::explain {

/// A race is often an interval: a step is harmful between the check and the act of another thread.
/// The critical pair is one end of this interval. Searches for the other one in the failing run,
/// in two ways. The last steps of the second mover before the pair come behind its first step. Or
/// the next steps of the first mover come before the pair's second one. Each element is a critical
/// pair. Empty: there is no other end near the pair, or the search is over.
[[nodiscard]] std::vector<CriticalPair> find_ends(const CriticalPair& pair, const Judge& judge);

}  // namespace anyrdma::sim::explain
