// Chooses what runs next in place of the schedule, and sees each step of a run: for searches that
// exchange two steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "verbs/time.h"

namespace anyrdma::sim {

class Fiber;
class Task;

/// What may run next: a fiber or a task.
struct Candidate {
  const Fiber* fiber = nullptr;  ///< null: a task
  Task* task = nullptr;          ///< null: a fiber
  verbs::Instant due{};          ///< of a task

  /// Identifies the candidate among all of a step. Two runs that have made the same choices use the
  /// same numbers. Of timers that are due at the same instant, several may have the same number.
  [[nodiscard]] std::uint64_t number() const;
};

/// One step of a run: what may run, and what the schedule chooses.
struct SchedulingStep {
  std::uint64_t point = 0;  ///< the number of scheduling decisions so far
  verbs::Instant now{};
  std::span<const Candidate> candidates;  ///< at least one; several make a scheduling decision
  std::size_t choice = 0;                 ///< the index of the candidate that the schedule chooses
};

/// Outlives the scheduler that it directs, or is taken from it before.
class Director {
 public:
  /// Called before each step if the schedule chooses (Scheduler::chooses()). Returns the index of
  /// the candidate that runs. The function must not change the world.
  [[nodiscard]] virtual std::size_t direct(const SchedulingStep& step) = 0;

 protected:
  ~Director() = default;
};

}  // namespace anyrdma::sim
