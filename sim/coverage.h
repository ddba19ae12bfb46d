// Coverage of a run in an exploration, as bits. A search compares them to learn which run reached
// something that no earlier run reached, and at which decision.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace anyrdma::sim {

class Scheduler;

/// A coverage bit, and the scheduling decision (Scheduler::choices) at which the run first set it.
struct Reached {
  std::uint32_t bit = 0;
  std::uint64_t decision = 0;
  bool operator==(const Reached&) const = default;
};

/// The coverage of one run. Items are named by numbers, such as hashes. The same item is the same
/// bit in every run; two items may share a bit.
class Coverage {
 public:
  static constexpr std::uint32_t kBits = 1 << 15;
  /// Bits below are milestones.
  static constexpr std::uint32_t kMilestones = 1 << 13;

  /// Records a milestone: an item that few runs reach, or that each run reaches a few times. The
  /// search continues from milestones with other seeds.
  void add_milestone(std::uint64_t thing) { set(thing % kMilestones); }
  /// Records an item that is no milestone, such as a block of a program's code that was executed.
  void add(std::uint64_t thing) { set(kMilestones + thing % (kBits - kMilestones)); }

  /// Returns the coverage bits of the run, in the order in which the run set them.
  [[nodiscard]] const std::vector<Reached>& reached() const { return reached_; }

  /// Sets the scheduler whose decisions are stored with each bit from now on. Null: every bit gets
  /// decision 0.
  void follow(const Scheduler* scheduler) { scheduler_ = scheduler; }

 private:
  void set(std::size_t bit) {
    if (!seen_[bit]) note(bit);
  }
  void note(std::size_t bit);

  const Scheduler* scheduler_ = nullptr;
  std::bitset<kBits> seen_;
  std::vector<Reached> reached_;
};

}  // namespace anyrdma::sim
