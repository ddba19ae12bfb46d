// The order in which the simulator executes work that is ready at the same time: a policy that
// chooses, and the choices of a run as data.
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

/// A scheduling choice that did not take the first of several candidates.
struct Deviation {
  std::uint64_t point = 0;   ///< the number of the scheduling decision in the run, from 0
  std::uint32_t choice = 1;  ///< the index of the chosen candidate; if too large, the last one
  bool operator==(const Deviation&) const = default;
};

enum class Policy : std::uint8_t {
  kFifo,    ///< whatever was ready first; costs nothing
  kRandom,  ///< each choice is random, from the world's seed

  /// Random priorities: each choice takes the candidate with the highest priority. Priorities are
  /// drawn from the world's seed; `changes` times, the highest priority becomes the lowest. A bug
  /// that needs d orderings is found with a probability of at least 1 / (n * k^(d-1)) with d - 1
  /// changes, n programs and k scheduling decisions. Source: Burckhardt, Kothari, Musuvathi,
  /// Nagarakatte: A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs (ASPLOS
  /// 2010).
  kPct,
  kGiven,  ///< as `deviations` say, otherwise fifo
};

/// How the simulator chooses what runs next: one of the runnable programs (fibers) or of the
/// network's due events (arriving packets and timers). Packets in one direction keep their order.
struct Schedule {
  Policy policy = Policy::kFifo;
  std::uint32_t changes = 2;  ///< kPct

  /// For kPct: the `changes` priority changes are distributed at random over this number of
  /// scheduling decisions, from the beginning of the run.
  std::uint32_t length = 200;
  /// For kPct: the numbers of scheduling decisions at which a further priority change happens,
  /// whatever the seed is. Ascending.
  std::vector<std::uint64_t> at{};
  /// The scheduling delay: the longest virtual time for which a runnable program may be kept off
  /// the CPU, as on a busy machine. Zero: only until all events of the same instant are done. Not
  /// for kFifo.
  verbs::Duration slack{};
  std::vector<Deviation> deviations{};  ///< kGiven, by point

  /// Changes of seeds, for every policy, ordered by scheduling decision: from that decision on, all
  /// random streams of the run use another seed, also the stream for scheduling choices. With
  /// kFifo, the decisions are counted as with kGiven.
  std::vector<Branch> branches{};
  bool operator==(const Schedule&) const = default;
};

/// Makes the scheduling choices of one run, and changes its seeds at the schedule's branches. The
/// same seeds and schedule lead to the same choices.
class Chooser {
 public:
  /// `seeds` has the schedule's branches, and must outlive this object.
  Chooser(Schedule schedule, Seeds& seeds);

  [[nodiscard]] bool active() const { return active_; }
  [[nodiscard]] verbs::Duration slack() const { return schedule_.slack; }
  /// Chooses what runs next, and returns its index in `candidates`. Each candidate is a number that
  /// identifies a fiber or a task, the same during the whole run. Precondition: `candidates` is not
  /// empty.
  [[nodiscard]] std::size_t choose(std::span<const std::uint64_t> candidates) {
    const std::size_t choice = propose(candidates);
    take(candidates.size(), choice);
    return choice;
  }
  /// The two parts of choose(): a call of propose() must be followed by a call of take(), which
  /// notes the choice that is made of `count` candidates, whether or not it is the proposed one.
  [[nodiscard]] std::size_t propose(std::span<const std::uint64_t> candidates);
  void take(std::size_t count, std::size_t choice);
  /// Returns how many times in a row, at most `most`, choose() would return 0 for these candidates.
  [[nodiscard]] std::uint64_t stays(std::span<const std::uint64_t> candidates,
                                    std::uint64_t most) const;
  /// Returns the number of scheduling decisions so far that had several candidates.
  [[nodiscard]] std::uint64_t points() const { return point_; }
  /// Returns all choices so far that did not take the first candidate. A kGiven schedule with these
  /// deviations repeats the run.
  [[nodiscard]] const std::vector<Deviation>& deviations() const { return made_; }

 private:
  struct Priority {
    std::uint64_t candidate;
    std::int64_t value;
  };
  [[nodiscard]] std::size_t choose_given(std::size_t count);
  [[nodiscard]] std::size_t choose_by_priority(std::span<const std::uint64_t> candidates);
  [[nodiscard]] Priority& priority_of(std::uint64_t candidate);
  /// Whether all candidates have a priority, and none a higher one than the first.
  [[nodiscard]] bool first_is_highest(std::span<const std::uint64_t> candidates) const;
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
