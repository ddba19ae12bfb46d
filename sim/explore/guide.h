// Chooses the next trial of an exploration from what earlier runs reached: coverage, and milestones
// (events that few runs reach, or that each run reaches only a few times).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sim/coverage.h"
#include "sim/explore/search.h"
#include "sim/schedule/random_stream.h"

namespace anyrdma::sim {

/// Selects later trials with two strategies, branching and coverage.
/// Branching: a run that reached a rare milestone (an event that few runs reach) is repeated up to
/// that milestone and continues with another seed. The rarer a milestone is, the more such runs it
/// gets; a run that reaches something new resets the count. Two rare milestones in one run count as
/// one more milestone.
/// Coverage: trials that reached new code or states are kept, and later runs use them with small
/// random changes. The same outcomes in the same order lead to the same selection.
class Guide {
 public:
  explicit Guide(const ExploreOptions& options);

  /// Whether runs have to report their coverage.
  [[nodiscard]] bool wants_coverage() const { return options_.branching || options_.feedback; }
  /// Replaces `run`, which was drawn at random, by a run that one of the strategies chooses, or
  /// leaves it unchanged. `dice`: the random stream of the run.
  void steer(Run& run, RandomStream& dice);
  void learn(const Run& run, const Outcome& outcome);

  [[nodiscard]] std::uint64_t bits() const { return bits_; }
  /// Returns the number, from 1, of the run that reached the most recent new bit of coverage.
  [[nodiscard]] std::uint64_t last_new() const { return last_new_; }

 private:
  /// A run that came to a milestone.
  struct Example {
    Trial trial;
    std::vector<std::size_t> drawn;
    std::uint64_t decision = 0;
  };
  struct Mark {
    std::uint64_t times = 0;  ///< in so many runs

    /// Runs that branched off here since one of them reached something new.
    std::uint64_t spent = 0;
    std::vector<Example> examples{};
  };
  [[nodiscard]] bool is_rare(std::uint64_t times) const { return times * kRare <= runs_ + kRare; }
  [[nodiscard]] std::uint64_t budget_of(const Mark& mark) const;
  enum class News : std::uint8_t { kNone, kOther, kMilestone };
  [[nodiscard]] News count_bits(const Outcome& outcome);
  void note(std::uint64_t key, const Run& run, std::uint64_t decision, bool may_branch);
  void note_pairs(const Run& run, const Outcome& outcome, bool may_branch);
  [[nodiscard]] bool branch(Run& run, RandomStream& dice);
  [[nodiscard]] bool mutate(Run& run, RandomStream& dice) const;
  void change_faults(Run& run, RandomStream& dice) const;
  void draw_again(Run& run, RandomStream& dice) const;
  void aim(Run& run, RandomStream& dice) const;

  static constexpr std::uint64_t kRare = 10;  ///< one run in so many
  const ExploreOptions& options_;
  std::uint64_t runs_ = 0;
  std::uint64_t bits_ = 0;
  std::uint64_t last_new_ = 0;
  std::uint64_t choices_ = 0;  ///< of the longest run
  std::vector<bool> seen_;
  std::map<std::uint64_t, Mark> marks_;
  /// Kept trials for the coverage strategy. `decision`: the number of scheduling decisions of the
  /// run.
  std::vector<Example> corpus_;
  std::vector<std::uint64_t> points_;  ///< scheduling decisions near which rare events occurred
  std::size_t next_point_ = 0;
};

}  // namespace anyrdma::sim
