// Why a trial fails: the search for what the failure depends on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/explain/curve.h"
#include "sim/explain/pair.h"
#include "sim/explain/probe.h"
#include "sim/explain/window.h"

namespace anyrdma::sim::explain {

/// A fault of the trial, or the memory order of its devices.
struct Condition {
  std::string text{};
  bool needed = false;  ///< without it, and with everything else, the trial passes
  Trial without{};      ///< that trial
  /// Of a needed fault with a fixed instant.
  std::optional<Window> window{};
};

/// The choice of the devices' memory order that turns the verdict.
struct MemoryTurn {
  std::uint64_t choice = 0;  ///< its number in the run
  Trial fails{};             ///< with this choice and those before it, and no later ones
  Trial passes{};            ///< with those before it only
};

struct Explanation {
  Trial trial{};       ///< the trial as it was given
  bool fails = false;  ///< false: it passes, and the rest is empty
  std::string problem{};
  std::uint64_t choices = 0;  ///< scheduling decisions of its run
  Trial written{};            ///< the same trial with all choices of its run written down

  std::vector<Condition> faults{};    ///< those of the trial, in its order
  std::optional<Condition> memory{};  ///< nullopt: its memory is strict
  std::optional<MemoryTurn> memory_turn{};
  std::optional<CriticalPair> pair{};
  std::vector<CriticalPair> ends{};  ///< further pairs near that one (ends.h)
  std::string no_pair{};             ///< why there is none, as a sentence
  std::optional<Curve> curve{};
  bool out_of_time = false;  ///< the search ended before it had all of this
};

/// Explains a trial. The same judge leads to the same explanation.
[[nodiscard]] Explanation explain(const Trial& trial, const Judge& judge,
                                  const CurveOptions& curve = {});

}  // namespace anyrdma::sim::explain
