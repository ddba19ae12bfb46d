#include "sim/explain/follower.h"

namespace anyrdma::sim::explain {

Follower::Follower(const Probe& probe) : probe_(probe) {
  if (!probe.script.empty()) script_.emplace(probe.script);
  if (!probe.drawn) return;
  random_.emplace(probe.drawn->seed, "explain");
  // Some bugs need many changes of threads, others few at the right places.
  constexpr std::uint64_t kRarities = 5;
  rarity_ = std::uint64_t{1} << random_->below(kRarities);
}

void Follower::begin(const World&, const programs::Sandbox&) {}

void Follower::on_step(std::uint64_t, const SchedulingStep&, std::size_t) {}

std::size_t Follower::direct(const SchedulingStep& step) {
  end_ = step.now.time_since_epoch();
  const std::size_t choice = choose(step);
  if (probe_.keeps_steps) {
    steps_.push_back({.mover = step.candidates[choice].number(),
                      .point = step.point,
                      .choice = static_cast<std::uint32_t>(choice),
                      .decided = step.candidates.size() > 1,
                      .time = step.now.time_since_epoch()});
  }
  on_step(number_, step, choice);
  ++number_;
  return choice;
}

std::size_t Follower::choose(const SchedulingStep& step) {
  if (script_ && number_ >= probe_.script_from) {
    movers_.clear();
    for (const Candidate& each : step.candidates) movers_.push_back(each.number());
    return script_->next(movers_).value_or(step.choice);
  }
  if (random_ && step.candidates.size() > 1 && step.point >= probe_.drawn->from) return draw(step);
  return step.choice;
}

std::size_t Follower::draw(const SchedulingStep& step) {
  if (random_->below(rarity_) != 0) return step.choice;
  return random_->below(step.candidates.size());
}

}  // namespace anyrdma::sim::explain
