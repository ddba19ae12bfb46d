#include "sim/explore/draw.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "transport/fault/plan/drawn.h"

namespace anyrdma::sim {
namespace {

/// Which of the menu's, in its order.
std::vector<std::size_t> choose_faults(const ExploreOptions& options, RandomStream& dice) {
  std::map<std::size_t, bool> left_out;  // by kind of action
  std::vector<std::size_t> choice;
  for (std::size_t i = 0; i < options.menu.size(); ++i) {
    const auto [kind, is_new] = left_out.try_emplace(options.menu[i].action.index());
    if (is_new) kind->second = dice.below(2) == 0;
    if (!kind->second) choice.push_back(i);
  }
  const std::size_t count =
      std::min<std::size_t>(choice.size(), dice.below(options.faults_max + 1));
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(choice[i], choice[i + dice.below(choice.size() - i)]);
  }
  choice.resize(count);
  std::sort(choice.begin(), choice.end());
  return choice;
}

}  // namespace

void add_fault(const ExploreOptions& options, std::size_t which, RandomStream& dice, Run& run) {
  run.trial.plan.faults.push_back(fault::resolved(options.menu[which], dice));
  run.trial.plan.faults.back().maybe = true;  // whether it comes to that, the seed decides
  run.drawn.push_back(which);
}

Run draw_run(const ExploreOptions& options, std::uint64_t number, RandomStream& dice) {
  Run run{.trial = {.seed = options.first_seed + number, .workload = options.workload},
          .place = {options.placed_max + 1, number}};
  for (const std::size_t which : choose_faults(options, dice)) add_fault(options, which, dice, run);
  if (!options.schedules.empty())
    run.trial.schedule = options.schedules[dice.below(options.schedules.size())];
  if (!options.memories.empty())
    run.trial.memory.profile = options.memories[dice.below(options.memories.size())];
  return run;
}

}  // namespace anyrdma::sim
