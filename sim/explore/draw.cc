#include "sim/explore/draw.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "transport/fault/plan/drawn.h"
#include "transport/fault/plan/flaps.h"

namespace anyrdma::sim {
namespace {

/// Of candidate faults that are drawn alike: what it waits for, what it does, and to a host or to
/// one of its programs. Whatever befalls a message of the CM or a request is one kind, as there are
/// many.
using Kind = std::array<std::size_t, 3>;
using Kinds = std::map<Kind, std::vector<std::size_t>>;

Kind kind_of(const Fault& fault) {
  const std::size_t trigger = fault.trigger.index();
  if (std::holds_alternative<fault::OnMessage>(fault.trigger) ||
      std::holds_alternative<fault::OnRequest>(fault.trigger))
    return {trigger, 0, 0};
  const auto* const pause = std::get_if<fault::PauseHost>(&fault.action);
  return {trigger, fault.action.index(), pause != nullptr && !pause->program.empty() ? 1U : 0U};
}

Kinds kinds_of(const std::vector<Fault>& menu) {
  Kinds kinds;
  for (std::size_t i = 0; i < menu.size(); ++i) kinds[kind_of(menu[i])].push_back(i);
  return kinds;
}

/// A kind, then one of it: a kind of many lines is no more likely than one of few.
std::size_t take_one(Kinds& kinds, RandomStream& dice) {
  const auto kind = std::next(kinds.begin(), static_cast<std::ptrdiff_t>(dice.below(kinds.size())));
  auto& lines = kind->second;
  const auto line = std::next(lines.begin(), static_cast<std::ptrdiff_t>(dice.below(lines.size())));
  const std::size_t which = *line;
  lines.erase(line);
  if (lines.empty()) kinds.erase(kind);
  return which;
}

/// Which of the menu's, in its order.
std::vector<std::size_t> choose_faults(const ExploreOptions& options, RandomStream& dice) {
  Kinds kinds = kinds_of(options.menu);
  std::erase_if(kinds, [&](const auto&) { return dice.below(2) == 0; });
  std::vector<std::size_t> choice;
  for (std::size_t count = dice.below(options.faults_max + 1); count > 0 && !kinds.empty(); --count)
    choice.push_back(take_one(kinds, dice));
  std::sort(choice.begin(), choice.end());
  return choice;
}

/// How long after something happens is still right after it.
constexpr verbs::Duration kAfterMax = std::chrono::microseconds(100);

/// Nullopt: nothing happens within it.
std::optional<verbs::Duration> near_a_moment(const fault::BetweenTimes& window,
                                             const std::vector<verbs::Duration>& moments,
                                             RandomStream& dice) {
  const auto first = std::lower_bound(moments.begin(), moments.end(), window.from);
  const auto end = std::lower_bound(first, moments.end(), window.to);
  if (first == end) return std::nullopt;
  const auto which =
      first + static_cast<std::ptrdiff_t>(dice.below(static_cast<std::uint64_t>(end - first)));
  const verbs::Duration next = which + 1 == end ? window.to : *(which + 1);
  const auto room = static_cast<std::uint64_t>(std::min(next - *which, kAfterMax).count());
  return *which + verbs::Duration(static_cast<std::int64_t>(dice.below(room + 1)));
}

/// A packet on which it would come by chance for the first time: what lasts comes once, or a run
/// would be nothing else.
void strike_once(Fault& fault, RandomStream& dice) {
  auto* const packet = std::get_if<fault::OnPacket>(&fault.trigger);
  if (packet == nullptr || packet->occurrence.per_million == fault::Occurrence::kCertain) return;
  constexpr std::uint32_t kLast = 1'000'000;
  std::uint32_t number = 1;
  while (number < kLast &&
         dice.below(fault::Occurrence::kCertain) >= packet->occurrence.per_million)
    ++number;
  packet->occurrence = number;
}

/// A port that flaps at a known time is a line for each time, of which the search can leave some
/// out; one that flaps for long stays one line.
void add(const ExploreOptions& options, std::size_t which, RandomStream& dice, Run& run) {
  constexpr std::size_t kLinesMax = 16;
  const Fault drawn = draw_fault(options, which, dice);
  std::vector<Fault> lines = fault::each_flap(drawn);
  if (lines.size() > kLinesMax) lines = {drawn};
  for (Fault& line : lines) {
    run.trial.plan.faults.push_back(std::move(line));
    run.drawn.push_back(which);
  }
}

}  // namespace

Fault draw_fault(const ExploreOptions& options, std::size_t which, RandomStream& dice) {
  Fault fault = options.menu[which];
  if (fault.lasts.least != fault.lasts.most) {
    strike_once(fault, dice);
    // What outlasts the run outlasts all that programs wait for: half of them may, the others not.
    if (!options.moments.empty() && dice.below(2) == 0)
      fault.lasts.most = std::clamp(options.moments.back(), fault.lasts.least, fault.lasts.most);
  }
  fault = fault::resolved(fault, dice);
  fault.maybe = true;  // whether it comes to that, the seed decides
  const auto* const window = std::get_if<fault::BetweenTimes>(&options.menu[which].trigger);
  if (window == nullptr || dice.below(2) != 0) return fault;
  const auto instant = near_a_moment(*window, options.moments, dice);
  if (instant) fault.trigger = AtTime{*instant};
  return fault;
}

void add_fault(const ExploreOptions& options, RandomStream& dice, Run& run) {
  Kinds kinds = kinds_of(options.menu);
  if (!kinds.empty()) add(options, take_one(kinds, dice), dice, run);
}

Run draw_run(const ExploreOptions& options, std::uint64_t number, RandomStream& dice) {
  Run run{.trial = {.seed = options.first_seed + number, .workload = options.workload},
          .place = {options.placed_max + 1, number}};
  for (const std::size_t which : choose_faults(options, dice)) add(options, which, dice, run);
  if (!options.schedules.empty())
    run.trial.schedule = options.schedules[dice.below(options.schedules.size())];
  if (!options.memories.empty())
    run.trial.memory.profile = options.memories[dice.below(options.memories.size())];
  return run;
}

}  // namespace anyrdma::sim
