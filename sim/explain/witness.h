// Looks at programs in the middle of a run: which thread is about to do what, at which source line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/explain/follower.h"

namespace anyrdma::sim::explain {

/// A thread, or what happens in the network, at one instant of a run.
struct Sight {
  std::string name{};  ///< "server/rping/2"; of a task: what happens when it runs
  /// The function that the program's code is about to call or has called, such as ibv_poll_cq.
  std::string call{};
  std::string place{};               ///< of that call, "wait_for (rping) rping.c:81"
  std::vector<std::string> stack{};  ///< the innermost frame first; empty: it is no thread

  bool operator==(const Sight&) const = default;
};

/// The name of a frame's function and, of the innermost frame of the program itself, its place.
/// `frames` are those of stacks::Unwinder.
void summarize(Sight& sight);

/// Looks at two movers (Step::mover) of a run when a step is about to begin, and at each of them
/// again when its next step is over.
class Witness final : public Follower {
 public:
  struct Pair {
    Sight first;
    Sight first_after;
    Sight second;
    Sight second_after;
  };

  /// `step`: a number, from 0. The arguments by reference outlive the object.
  Witness(const Probe& probe, std::uint64_t step, std::uint64_t first, std::uint64_t second)
      : Follower(probe), step_(step), movers_{first, second} {}
  void begin(const World& world, const programs::Sandbox& sandbox) override;

  /// Returns both movers before and after their steps. Members are empty if the run ended before.
  [[nodiscard]] Pair pair() const { return {before_[0], after_[0], before_[1], after_[1]}; }
  /// Both movers have been seen after their steps.
  [[nodiscard]] bool is_over() const override { return seen_[0] && seen_[1]; }

 private:
  void on_step(std::uint64_t number, const SchedulingStep& step, std::size_t choice) override;

  std::uint64_t step_;
  std::uint64_t movers_[2];
  bool ran_[2] = {};  ///< since the step
  bool seen_[2] = {};
  Sight before_[2];
  Sight after_[2];
  const programs::Sandbox* sandbox_ = nullptr;
};

/// Notes when each fault of a plan happens, and where the threads of all programs are then.
class FaultWitness final : public Follower {
 public:
  struct Moment {
    std::size_t fault = 0;  ///< its index in World::faults().status()
    verbs::Duration time{};
    std::uint64_t point = 0;  ///< scheduling decisions before
    std::vector<Sight> threads{};
  };
  using Follower::Follower;
  void begin(const World& world, const programs::Sandbox& sandbox) override;
  /// The first time that each fault happened.
  [[nodiscard]] const std::vector<Moment>& moments() const { return moments_; }

 private:
  void on_step(std::uint64_t number, const SchedulingStep& step, std::size_t choice) override;

  const World* world_ = nullptr;
  const programs::Sandbox* sandbox_ = nullptr;
  std::vector<bool> happened_;
  std::vector<Moment> moments_;
};

}  // namespace anyrdma::sim::explain
