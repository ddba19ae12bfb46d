#include "sim/explain/fork.h"

#include <algorithm>
#include <iterator>

#include "sim/explain/bisect.h"

namespace anyrdma::sim::explain {
namespace {

std::vector<Deviation> first_of(const std::vector<Deviation>& all, std::size_t count) {
  return {all.begin(), std::next(all.begin(), static_cast<std::ptrdiff_t>(count))};
}

}  // namespace

Trial Fork::with(std::uint32_t choice) const {
  Trial trial = common;
  if (choice != 0) trial.schedule.deviations.push_back({point, choice});
  return trial;
}

std::optional<Fork> find_fork(const Trial& trial, const std::vector<Deviation>& choices,
                              std::size_t kept, bool fails, verbs::Duration parts,
                              const Judge& judge) {
  if (kept == choices.size()) return std::nullopt;
  const auto last =
      bisect(kept, choices.size(), fails, [&](const std::vector<std::size_t>& counts) {
        std::vector<Probe> probes;
        for (const std::size_t count : counts)
          probes.push_back(
              {.trial = with_choices(trial, first_of(choices, count)), .parts = parts});
        std::vector<bool> verdicts;
        for (const Answer& each : judge(probes)) verdicts.push_back(each.fails());
        return verdicts;
      });
  if (!last) return std::nullopt;
  const Deviation& turns = choices[*last];
  Fork fork{.common = with_choices(trial, first_of(choices, *last)), .point = turns.point};
  (fails ? fork.passes : fork.fails) = turns.choice;
  return fork;
}

std::vector<Deviation> choices_before(const std::vector<Deviation>& choices,
                                      std::uint64_t decision) {
  const auto end =
      std::ranges::find_if(choices, [&](const Deviation& each) { return each.point >= decision; });
  return {choices.begin(), end};
}

}  // namespace anyrdma::sim::explain
