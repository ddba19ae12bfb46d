#include "sim/schedule/schedule.h"

#include <algorithm>
#include <utility>

#include "verbs/assert.h"

namespace anyrdma::sim {
namespace {

/// Where the priority of a candidate is, or would be.
auto place_of(auto& priorities, std::uint64_t candidate) {
  return std::lower_bound(priorities.begin(), priorities.end(), candidate,
                          [](const auto& each, std::uint64_t key) { return each.candidate < key; });
}

}  // namespace

Chooser::Chooser(Schedule schedule, Seeds& seeds)
    : schedule_(std::move(schedule)),
      seeds_(seeds),
      active_(schedule_.policy != Policy::kFifo || !schedule_.branches.empty()),
      random_(seeds, "schedule") {
  draw_changes(0);
}

void Chooser::draw_changes(std::uint64_t from) {
  if (schedule_.policy != Policy::kPct) return;
  change_points_ = schedule_.at;
  const std::uint64_t length = std::max<std::uint64_t>(schedule_.length, 1);
  const std::uint64_t left = length > from ? length - from : length;
  for (std::uint32_t i = 0; i < schedule_.changes; ++i)
    change_points_.push_back(from + random_.below(left));
}

void Chooser::reach_point() {
  seeds_.reach(point_);
  if (seeds_.taken() == taken_) return;
  taken_ = seeds_.taken();
  priorities_.clear();
  draw_changes(point_);
}

std::size_t Chooser::propose(std::span<const std::uint64_t> candidates) {
  CM_ASSERT(!candidates.empty());
  if (candidates.size() == 1) return 0;
  reach_point();
  std::size_t choice = 0;
  switch (schedule_.policy) {
    case Policy::kFifo:
      break;
    case Policy::kRandom:
      choice = random_.below(candidates.size());
      break;
    case Policy::kPct:
      choice = choose_by_priority(candidates);
      break;
    case Policy::kGiven:
      choice = choose_given(candidates.size());
      break;
  }
  return choice;
}

void Chooser::take(std::size_t count, std::size_t choice) {
  if (count == 1) return;
  if (choice != 0) made_.push_back({point_, static_cast<std::uint32_t>(choice)});
  ++point_;
}

std::uint64_t Chooser::stays(std::span<const std::uint64_t> candidates, std::uint64_t most) const {
  if (candidates.size() == 1) return most;
  std::uint64_t end = point_ + most;
  if (taken_ < schedule_.branches.size())
    end = std::min(end, std::max(point_, schedule_.branches[taken_].until));
  switch (schedule_.policy) {
    case Policy::kFifo:
      break;
    case Policy::kRandom: {
      RandomStream ahead = random_;
      std::uint64_t point = point_;
      while (point < end && ahead.below(candidates.size()) == 0) ++point;
      end = point;
      break;
    }
    case Policy::kPct:
      if (!first_is_highest(candidates)) return 0;
      for (const std::uint64_t change : change_points_)
        if (change >= point_) end = std::min(end, change);
      break;
    case Policy::kGiven: {
      const auto& given = schedule_.deviations;
      const auto next =
          std::find_if(given.begin() + static_cast<std::ptrdiff_t>(next_given_), given.end(),
                       [this](const Deviation& each) { return each.point >= point_; });
      if (next != given.end()) end = std::min(end, next->point);
      break;
    }
  }
  return end - point_;
}

std::size_t Chooser::choose_given(std::size_t count) {
  const auto& given = schedule_.deviations;
  while (next_given_ < given.size() && given[next_given_].point < point_) ++next_given_;
  if (next_given_ == given.size() || given[next_given_].point != point_) return 0;
  return std::min<std::size_t>(given[next_given_].choice, count - 1);
}

Chooser::Priority& Chooser::priority_of(std::uint64_t candidate) {
  const auto found = place_of(priorities_, candidate);
  if (found != priorities_.end() && found->candidate == candidate) return *found;
  constexpr std::uint64_t kRange = std::uint64_t{1} << 62;  // two of the same are of no account
  const auto value = static_cast<std::int64_t>(random_.below(kRange));
  return *priorities_.insert(found, {candidate, value});
}

bool Chooser::first_is_highest(std::span<const std::uint64_t> candidates) const {
  const auto known = [this](std::uint64_t candidate) {
    const auto found = place_of(priorities_, candidate);
    return found != priorities_.end() && found->candidate == candidate ? &*found : nullptr;
  };
  const Priority* const first = known(candidates[0]);
  return first != nullptr && std::all_of(candidates.begin(), candidates.end(), [&](auto each) {
           const Priority* const other = known(each);
           return other != nullptr && other->value <= first->value;
         });
}

std::size_t Chooser::choose_by_priority(std::span<const std::uint64_t> candidates) {
  const auto highest = [&] {
    std::size_t best = 0;
    std::int64_t value = priority_of(candidates[0]).value;
    for (std::size_t i = 1; i < candidates.size(); ++i) {
      const std::int64_t other = priority_of(candidates[i]).value;
      if (other > value) best = i, value = other;
    }
    return best;
  };
  const auto changes = std::count(change_points_.begin(), change_points_.end(), point_);
  for (std::ptrdiff_t i = 0; i < changes; ++i) priority_of(candidates[highest()]).value = --lowest_;
  return highest();
}

}  // namespace anyrdma::sim
