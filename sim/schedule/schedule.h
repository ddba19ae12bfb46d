// The order in which ready work is done: a policy, and its choices as data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/schedule/random_stream.h"
#include "sim/schedule/seeds.h"
#include "verbs/time.h"

namespace anyrdma::sim {

/// A choice among several candidates other than the first.
struct Deviation {
  std::uint64_t point = 0;   ///< from 0: which of the run's points at which there was a choice
  std::uint32_t choice = 1;  ///< how many were before it; the last, if there are fewer
  bool operator==(const Deviation&) const = default;
};

enum class Policy : std::uint8_t {
  kFifo,    ///< whatever was ready first; costs nothing
  kRandom,  ///< each choice is random, from the world's seed
  /// The candidate with the highest priority. Priorities are drawn from the world's seed; `changes`
  /// times the highest one becomes the lowest. A bug that needs d orderings is found with a
  /// probability of at least 1 / (n * k^(d-1)) for d - 1 changes among n programs and k points.
  /// Source: Burckhardt, Kothari, Musuvathi, Nagarakatte: A Randomized Scheduler with Probabilistic
  /// Guarantees of Finding Bugs (ASPLOS 2010).
  kPct,
  kGiven,  ///< as `deviations` say, otherwise fifo
};

/// Candidates are runnable programs (fibers), and due events of the network: arriving packets,
/// timers. Packets in one direction keep their order.
struct Schedule {
  Policy policy = Policy::kFifo;
  std::uint32_t changes = 2;  ///< kPct
  /// kPct: among so many first points the changes are spread.
  std::uint32_t length = 200;
  /// kPct: points at which a further change comes, whatever the seed; ascending.
  std::vector<std::uint64_t> at{};
  /// The scheduling delay: how long a runnable program may be kept off the CPU while the clock
  /// advances, as on a busy machine. Zero: only while events of the same instant are done. Not for
  /// kFifo.
  verbs::Duration slack{};
  std::vector<Deviation> deviations{};  ///< kGiven, by point
  /// Whatever the policy, by point: from there on all of the run's streams, these choices' too, are
  /// another seed's. With kFifo, points are counted as with kGiven.
  std::vector<Branch> branches{};
  bool operator==(const Schedule&) const = default;
};

/// Makes a run's choices, and brings its seeds from one to the next. Same seeds and schedule, same
/// choices.
class Chooser {
 public:
  /// `seeds`: with the schedule's branches; outlive it.
  Chooser(Schedule schedule, Seeds& seeds);

  [[nodiscard]] bool active() const { return active_; }
  [[nodiscard]] verbs::Duration slack() const { return schedule_.slack; }
  /// Chooses the next candidate; each has a number of its own for the whole run. Precondition:
  /// there is at least one.
  [[nodiscard]] std::size_t choose(std::span<const std::uint64_t> candidates);
  /// At how many there was a choice.
  [[nodiscard]] std::uint64_t points() const { return point_; }
  /// All so far; a kGiven schedule with them repeats the run.
  [[nodiscard]] const std::vector<Deviation>& deviations() const { return made_; }

 private:
  struct Priority {
    std::uint64_t candidate;
    std::int64_t value;
  };
  [[nodiscard]] std::size_t choose_given(std::size_t count);
  [[nodiscard]] std::size_t choose_by_priority(std::span<const std::uint64_t> candidates);
  [[nodiscard]] Priority& priority_of(std::uint64_t candidate);
  void draw_changes(std::uint64_t from);
  void reach_point();

  Schedule schedule_;
  Seeds& seeds_;
  bool active_;
  std::size_t taken_ = 0;  ///< branches so far
  RandomStream random_;
  std::uint64_t point_ = 0;
  std::size_t next_given_ = 0;
  std::vector<Priority> priorities_;  ///< by candidate
  std::vector<std::uint64_t> change_points_;
  std::int64_t lowest_ = 0;
  std::vector<Deviation> made_;
};

}  // namespace anyrdma::sim
