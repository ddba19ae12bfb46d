#include "sim/explore/guide.h"

#include <algorithm>
#include <utility>

#include "sim/explore/draw.h"
#include "sim/trace/hash.h"

namespace anyrdma::sim {
namespace {

/// Of a hundred runs, how many branch off, and how many are changed ones of the corpus.
constexpr std::uint64_t kBranching = 25;
constexpr std::uint64_t kMutating = 20;

/// Before, it is not known what is rare.
constexpr std::uint64_t kRunsToLearn = 32;
constexpr std::uint64_t kBudgetMax = 4096;
constexpr std::size_t kExamplesMax = 4;
constexpr std::size_t kMarksMax = 1 << 14;
constexpr std::size_t kBranchesMax = 8;
/// Of one run, whose pairs are looked at.
constexpr std::size_t kRareInARun = 6;
constexpr std::size_t kCorpusMax = 512;
constexpr std::size_t kPointsMax = 256;
/// A change of priorities comes so many points before a rare thing at most.
constexpr std::uint64_t kNear = 32;
constexpr std::uint64_t kSeeds = 1'000'000'000;

/// Whether decisions are counted, so that a run can be left at one.
bool counts_decisions(const Trial& trial) {
  return trial.schedule.policy != Policy::kFifo || !trial.schedule.branches.empty();
}

/// False: the trial has as many branches as people read, or the decision is before one of them.
bool branch_off(Trial& trial, std::uint64_t decision, RandomStream& dice) {
  auto& branches = trial.schedule.branches;
  while (!branches.empty() && branches.back().until >= decision) branches.pop_back();
  if (branches.size() == kBranchesMax || !counts_decisions(trial)) return false;
  branches.push_back({decision, dice.below(kSeeds)});
  return true;
}

/// A run that has branched off comes once more to what the run came to of which it is a branch.
bool is_repeated(const Run& run, const Reached& reached) {
  return run.origin && reached.decision <= run.trial.schedule.branches.back().until;
}

}  // namespace

Guide::Guide(const ExploreOptions& options) : options_(options), seen_(Coverage::kBits) {}

std::uint64_t Guide::budget_of(const Mark& mark) const {
  return std::min(2 * runs_ / std::max<std::uint64_t>(mark.times, 1) + 1, kBudgetMax);
}

// --- learning -----------------------------------------------------------------------------------

void Guide::learn(const Run& run, const Outcome& outcome) {
  ++runs_;
  choices_ = std::max(choices_, outcome.choices);
  if (!wants_coverage()) return;
  const bool may_branch = counts_decisions(run.trial);
  std::vector<Reached> rare;
  for (const Reached& each : outcome.reached) {
    if (each.bit >= Coverage::kMilestones || is_repeated(run, each)) continue;
    if (run.changed && seen_[each.bit]) continue;  // how rare it is, only other runs tell
    note(each.bit, run, each.decision, may_branch);
    if (is_rare(marks_[each.bit].times)) rare.push_back(each);
  }
  const News news = count_bits(outcome);
  if (!run.changed) note_pairs(run, outcome, may_branch);
  for (const Reached& each : rare) {
    if (points_.size() < kPointsMax) points_.emplace_back();
    points_[next_point_++ % kPointsMax] = each.decision;
  }
  if (news == News::kNone) return;
  last_new_ = runs_;
  if (run.origin && news == News::kMilestone) marks_[*run.origin].spent = 0;
  if (corpus_.size() == kCorpusMax) corpus_.erase(corpus_.begin());
  corpus_.push_back({run.trial, run.drawn, outcome.choices});
}

Guide::News Guide::count_bits(const Outcome& outcome) {
  News news = News::kNone;
  for (const Reached& each : outcome.reached) {
    if (each.bit >= seen_.size() || seen_[each.bit]) continue;
    seen_[each.bit] = true;
    ++bits_;
    if (each.bit < Coverage::kMilestones) news = News::kMilestone;
    if (news == News::kNone) news = News::kOther;
  }
  return news;
}

void Guide::note(std::uint64_t key, const Run& run, std::uint64_t decision, bool may_branch) {
  if (marks_.size() >= kMarksMax && !marks_.contains(key)) return;
  Mark& mark = marks_[key];
  ++mark.times;
  if (!may_branch || !options_.branching) return;
  Example example{run.trial, run.drawn, decision};
  if (mark.examples.size() < kExamplesMax) {
    mark.examples.push_back(std::move(example));
  } else if ((mark.times & (mark.times - 1)) == 0) {  // ever more seldom
    mark.examples[mark.times % kExamplesMax] = std::move(example);
  }
}

void Guide::note_pairs(const Run& run, const Outcome& outcome, bool may_branch) {
  std::vector<Reached> rare;
  for (const Reached& each : outcome.reached) {
    if (each.bit < Coverage::kMilestones && is_rare(marks_[each.bit].times)) rare.push_back(each);
  }
  std::stable_sort(rare.begin(), rare.end(), [this](const Reached& one, const Reached& other) {
    return marks_[one.bit].times < marks_[other.bit].times;
  });
  if (rare.size() > kRareInARun) rare.resize(kRareInARun);
  for (const Reached& one : rare) {
    for (const Reached& other : rare) {
      if (one.bit >= other.bit || (is_repeated(run, one) && is_repeated(run, other))) continue;
      const std::uint64_t key = Coverage::kBits + mix(one.bit, other.bit) / 2;
      note(key, run, std::max(one.decision, other.decision), may_branch);
    }
  }
}

// --- choosing -----------------------------------------------------------------------------------

void Guide::steer(Run& run, RandomStream& dice) {
  const std::uint64_t percent = dice.below(100);
  if (options_.branching && percent < kBranching && branch(run, dice)) return;
  if (options_.feedback && percent >= 100 - kMutating && mutate(run, dice)) return;
  if (options_.branching) aim(run, dice);
}

// The one that has used the least part of its budget.
bool Guide::branch(Run& run, RandomStream& dice) {
  if (runs_ < kRunsToLearn) return false;
  std::pair<const std::uint64_t, Mark>* best = nullptr;
  for (auto& entry : marks_) {
    const Mark& mark = entry.second;
    if (mark.examples.empty() || !is_rare(mark.times) || mark.spent >= budget_of(mark)) continue;
    if (best == nullptr ||
        mark.spent * budget_of(best->second) < best->second.spent * budget_of(mark))
      best = &entry;
  }
  if (best == nullptr) return false;
  Mark& mark = best->second;
  const Example& example = mark.examples[mark.spent % mark.examples.size()];
  Trial trial = example.trial;
  ++mark.spent;
  if (!branch_off(trial, example.decision, dice)) return false;
  run.trial = std::move(trial);
  run.drawn = example.drawn;
  run.origin = best->first;
  return true;
}

bool Guide::mutate(Run& run, RandomStream& dice) const {
  if (corpus_.empty()) return false;
  // Of two, the later.
  const std::size_t which = std::max(dice.below(corpus_.size()), dice.below(corpus_.size()));
  const Example& example = corpus_[which];
  run.trial = example.trial;
  run.drawn = example.drawn;
  run.changed = true;
  switch (dice.below(options_.menu.empty() ? 1 : 3)) {
    case 1:
      change_faults(run, dice);
      break;
    case 2:
      draw_again(run, dice);
      break;
    default:
      return branch_off(run.trial, dice.below(example.decision + 1), dice);
  }
  return true;
}

/// One less, or one more.
void Guide::change_faults(Run& run, RandomStream& dice) const {
  auto& faults = run.trial.plan.faults;
  if (run.drawn.size() == faults.size() && !faults.empty() && dice.below(2) == 0) {
    const auto which = static_cast<std::ptrdiff_t>(dice.below(faults.size()));
    faults.erase(faults.begin() + which);
    run.drawn.erase(run.drawn.begin() + which);
    return;
  }
  add_fault(options_, dice, run);
}

/// One of them happens at another instant, and for another time.
void Guide::draw_again(Run& run, RandomStream& dice) const {
  if (run.drawn.empty()) return change_faults(run, dice);
  const std::size_t which = dice.below(run.drawn.size());
  run.trial.plan.faults[which] = draw_fault(options_, run.drawn[which], dice);
}

/// Some changes of priorities come near what is rare.
void Guide::aim(Run& run, RandomStream& dice) const {
  Schedule& schedule = run.trial.schedule;
  if (schedule.policy != Policy::kPct) return;
  if (choices_ > schedule.length) {
    constexpr std::uint64_t kLengths = 4;  // the whole run, its first half, and so on
    const std::uint64_t length = std::max<std::uint64_t>(choices_ >> dice.below(kLengths), 1);
    schedule.length = static_cast<std::uint32_t>(std::min<std::uint64_t>(length, UINT32_MAX));
  }
  if (points_.empty() || schedule.changes == 0 || dice.below(2) == 0) return;
  const std::uint64_t point = points_[dice.below(points_.size())] + kNear / 8;
  schedule.at.push_back(point - std::min(point, dice.below(kNear)));
  --schedule.changes;
}

}  // namespace anyrdma::sim
