// Makes one run as a probe says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/explain/probe.h"
#include "sim/explain/script.h"
#include "sim/schedule/director.h"
#include "sim/schedule/random_stream.h"

namespace anyrdma::sim {
class World;
}
namespace anyrdma::sim::programs {
class Sandbox;
}

namespace anyrdma::sim::explain {

/// Follows the script of a probe, or draws choices, and notes the steps of the run.
class Follower : public Director {
 public:
  /// `probe` outlives the object.
  explicit Follower(const Probe& probe);
  virtual ~Follower() = default;

  /// Called before the first step. Both outlive the last step.
  virtual void begin(const World& world, const programs::Sandbox& sandbox);
  [[nodiscard]] std::size_t direct(const SchedulingStep& step) override;
  [[nodiscard]] std::vector<Step> take_steps() { return std::move(steps_); }
  /// The virtual time before the last step so far.
  [[nodiscard]] verbs::Duration end() const { return end_; }
  /// Whether the run is to be stopped: it has reached the probe's limit.
  [[nodiscard]] virtual bool is_over() const { return probe_.limit && end_ >= *probe_.limit; }

 protected:
  /// Called before each step, with its number from 0 and the index of the candidate that runs.
  virtual void on_step(std::uint64_t number, const SchedulingStep& step, std::size_t choice);

 private:
  [[nodiscard]] std::size_t choose(const SchedulingStep& step);
  [[nodiscard]] std::size_t draw(const SchedulingStep& step);

  const Probe& probe_;
  std::optional<RandomStream> random_;
  std::uint64_t rarity_ = 1;  ///< one in so many choices is drawn
  std::uint64_t number_ = 0;
  verbs::Duration end_{};
  std::optional<Script> script_;
  std::vector<std::uint64_t> movers_;  ///< the candidates of a step
  std::vector<Step> steps_;
};

}  // namespace anyrdma::sim::explain
