// The world of a standard scenario.
#pragma once

#include <string>
#include <string_view>

#include "sim/explore/explore.h"
#include "sim/host.h"
#include "sim/scenarios/scenarios.h"
#include "sim/world.h"

namespace anyrdma::sim::scenarios {

/// Made before the world, so that programs that the world's end wakes may still look at it.
struct Score {
  std::uint64_t wanted = 0;  ///< messages that are to get through
  std::uint64_t passed = 0;
};

/// When all wanted messages must have passed in the end.
enum class Demand : std::uint8_t {
  kUndisturbed,       ///< if no fault fired
  kWhateverHappened,  ///< the healed world has all its devices again
};

class Stage {
 public:
  Stage(const Trial& trial, const Staging& staging);

  [[nodiscard]] Host& add_host(std::string_view name, std::string_view address) {
    return world_.add_host(name, {address});
  }
  /// Injects the fault plan. Call it after all hosts were added. Returns false if the plan names
  /// something that does not exist; play() then reports it.
  bool set();
  /// Runs the faulty phase and the healed one.
  [[nodiscard]] Outcome play(const Score& score, Demand demand = Demand::kUndisturbed);
  [[nodiscard]] World& world() { return world_; }

 private:
  const Trial& trial_;
  const Staging staging_;
  World world_;
  std::string refusal_;
};

}  // namespace anyrdma::sim::scenarios
