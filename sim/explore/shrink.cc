#include "sim/explore/shrink.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "sim/explore/kind.h"

namespace anyrdma::sim {
namespace {

/// Leaves out of `parts` all that `fails` without: halves, quarters, and so on to single ones.
template <class Part, class Fails>
std::vector<Part> fewest(std::vector<Part> parts, Fails&& fails) {
  std::size_t pieces = 2;
  while (!parts.empty()) {
    const std::size_t size = (parts.size() + pieces - 1) / pieces;
    bool smaller = false;
    for (std::size_t begin = 0; begin < parts.size() && !smaller; begin += size) {
      const auto end = std::min(begin + size, parts.size());
      std::vector<Part> rest(parts.begin(), std::next(parts.begin(), static_cast<long>(begin)));
      rest.insert(rest.end(), std::next(parts.begin(), static_cast<long>(end)), parts.end());
      smaller = fails(rest);
      if (smaller) parts = std::move(rest);
    }
    if (smaller) {
      pieces = std::max<std::size_t>(pieces - 1, 2);
    } else if (size == 1) {
      break;
    } else {
      pieces = std::min(pieces * 2, parts.size());
    }
  }
  return parts;
}

class Shrinking {
 public:
  Shrinking(const Scenario& scenario, const Trial& trial, const Outcome& outcome,
            const ShrinkOptions& options)
      : scenario_(scenario),
        options_(options),
        kind_(kind_of(outcome.problem)),
        trial_(trial),
        outcome_(outcome) {}

  Shrunk run() {
    leave_out_faults();
    if (name_what_was_struck()) leave_out_faults();
    simplify_times();
    leave_out_seeds();
    leave_out_changes();
    const Shrunk drawn{trial_, outcome_};
    write_choices_down();
    leave_out_seeds();
    leave_out_choices();
    // If the runs did not suffice among hundreds of choices, it was said shorter before.
    if (is_over() && trial_.schedule.deviations.size() > kChoicesToRead) return drawn;
    const Shrunk drawn_memory{trial_, outcome_};
    write_memory_down();
    leave_out_memory();
    const auto& given = trial_.memory.given;
    if (is_over() && given && given->size() > kChoicesToRead) return drawn_memory;
    if (lower_parameters()) {
      leave_out_faults();
      leave_out_choices();
    }
    return {trial_, outcome_};
  }

 private:
  [[nodiscard]] bool is_over() {
    over_ = over_ || runs_ == options_.runs_max || (options_.stop && options_.stop());
    return over_;
  }

  /// Whether the trial goes wrong in the same way. Then it is the smallest one so far: the callers
  /// keep it.
  [[nodiscard]] bool fails(const Trial& trial) {
    if (is_over()) return false;
    ++runs_;
    Outcome outcome = scenario_(trial);
    if (options_.stop && options_.stop()) return false;  // which may have ended the run, too
    const bool same = !outcome.problem.empty() && kind_of(outcome.problem) == kind_;
    if (same) outcome_ = std::move(outcome);
    if (options_.tell) options_.tell(same ? trial : trial_, runs_);
    return same;
  }

  void leave_out_faults() {
    Trial next = trial_;
    trial_.plan.faults = fewest(trial_.plan.faults, [&](const std::vector<Fault>& faults) {
      next.plan.faults = faults;
      return fails(next);
    });
  }

  /// What lasts is made as short as may be, and instants round.
  void simplify_times() {
    for (std::size_t i = 0; i < trial_.plan.faults.size(); ++i) {
      shorten(i);
      round_instant(i);
    }
  }

  void shorten(std::size_t which) {
    for (;;) {
      Trial next = trial_;
      fault::Lasting& lasts = next.plan.faults[which].lasts;
      if (lasts.least <= verbs::Duration(1) || lasts.least != lasts.most) return;
      lasts = rounded(lasts.least / 2, leading_unit(lasts.least / 2));
      if (!fails(next)) return;
      trial_ = next;
    }
  }

  /// To the fewest digits with which it still goes wrong.
  void round_instant(std::size_t which) {
    const auto* const at = std::get_if<AtTime>(&trial_.plan.faults[which].trigger);
    if (at == nullptr || at->time <= verbs::Duration::zero()) return;
    const verbs::Duration time = at->time;
    for (verbs::Duration unit = leading_unit(time); unit > verbs::Duration(1); unit /= 10) {
      for (const verbs::Duration round : {rounded(time, unit), rounded(time, unit) + unit}) {
        if (round == time) return;
        Trial next = trial_;
        next.plan.faults[which].trigger = AtTime{round};
        if (!fails(next)) continue;
        trial_ = next;
        return;
      }
    }
  }
  /// The power of ten of its first digit.
  [[nodiscard]] static verbs::Duration leading_unit(verbs::Duration time) {
    verbs::Duration unit(1);
    while (unit * 10 <= time) unit *= 10;
    return unit;
  }
  [[nodiscard]] static verbs::Duration rounded(verbs::Duration time, verbs::Duration unit) {
    return time / unit * unit;
  }

  /// Where chance chose what a fault strikes, each of those becomes a fault of its own: whoever
  /// reads "20%" does not know which packet mattered.
  [[nodiscard]] bool name_what_was_struck() {
    if (std::ranges::none_of(trial_.plan.faults, by_chance)) return false;
    Trial next = trial_;
    next.plan.faults.clear();
    auto status = outcome_.faults.begin();
    for (const Fault& fault : trial_.plan.faults) {
      status = std::find_if(status, outcome_.faults.end(),
                            [&](const FaultStatus& each) { return each.fault == fault; });
      if (status == outcome_.faults.end()) return false;
      const FaultStatus& found = *status++;
      if (!by_chance(fault) || found.chosen.size() == FaultStatus::kChosenMax) {
        next.plan.faults.push_back(fault);
        continue;
      }
      for (const std::uint32_t number : found.chosen) {
        next.plan.faults.push_back(
            {fault::with_occurrence(fault.trigger, number), fault.action, fault.maybe});
      }
    }
    if (next == trial_ || !fails(next)) return false;
    trial_ = next;
    return true;
  }
  [[nodiscard]] static bool by_chance(const Fault& fault) {
    return fault::occurrence_of(fault.trigger).per_million != Occurrence::kCertain;
  }

  /// One seed is read sooner than several.
  void leave_out_seeds() {
    Trial next = trial_;
    trial_.schedule.branches =
        fewest(trial_.schedule.branches, [&](const std::vector<Branch>& branches) {
          next.schedule.branches = branches;
          return fails(next);
        });
    if (trial_.schedule.branches.empty()) return;
    next = trial_;
    next.seed = trial_.schedule.branches.back().seed;
    next.schedule.branches.clear();
    if (fails(next)) trial_ = next;
  }

  /// Of the places in which priorities change.
  void leave_out_changes() {
    if (trial_.schedule.policy != Policy::kPct) return;
    Trial next = trial_;
    trial_.schedule.at = fewest(trial_.schedule.at, [&](const std::vector<std::uint64_t>& at) {
      next.schedule.at = at;
      return fails(next);
    });
    next = trial_;
    for (next.schedule.changes = 0; next.schedule.changes < trial_.schedule.changes;
         ++next.schedule.changes) {
      if (fails(next)) trial_ = next;
    }
  }

  /// What chance chose becomes data, so that parts of it can be left out.
  void write_choices_down() {
    if (trial_.schedule.policy == Policy::kFifo || trial_.schedule.policy == Policy::kGiven) return;
    Trial next = trial_;
    next.schedule = Schedule{};
    if (fails(next)) {  // the order is not to blame
      trial_ = next;
      return;
    }
    next.schedule = {.policy = Policy::kGiven,
                     .slack = trial_.schedule.slack,
                     .deviations = outcome_.deviations,
                     .branches = trial_.schedule.branches};
    if (fails(next)) trial_ = next;
  }

  void leave_out_choices() {
    if (trial_.schedule.policy != Policy::kGiven) return;
    Trial next = trial_;
    trial_.schedule.deviations =
        fewest(trial_.schedule.deviations, [&](const std::vector<Deviation>& deviations) {
          next.schedule.deviations = deviations;
          return fails(next);
        });
  }

  /// The same of what memory's choices were.
  void write_memory_down() {
    if (trial_.memory.profile == MemoryProfile::kStrict || trial_.memory.given) return;
    Trial next = trial_;
    next.memory = {};
    if (fails(next)) {  // memory is not to blame
      trial_ = next;
      return;
    }
    next.memory = {.profile = trial_.memory.profile, .given = outcome_.memory};
    if (fails(next)) trial_ = next;
  }

  void leave_out_memory() {
    if (!trial_.memory.given) return;
    Trial next = trial_;
    trial_.memory.given =
        fewest(*trial_.memory.given, [&](const std::vector<Deviation>& deviations) {
          next.memory.given = deviations;
          return fails(next);
        });
  }

  /// Whether it fails as it is or, because a smaller workload comes to the same choice earlier,
  /// with the choices moved to the front; they stay there then.
  [[nodiscard]] bool fails_soon(Trial& trial) {
    auto& deviations = trial.schedule.deviations;
    const std::uint64_t first = deviations.empty() ? 0 : deviations.front().point;
    for (std::uint64_t by = 0; by <= std::min(first, kMovesMax); ++by) {
      if (fails(trial)) return true;
      if (by == first) break;
      for (Deviation& each : deviations) --each.point;
    }
    return false;
  }

  /// Each to the least that still goes wrong on the way down by halves, then by ones.
  bool lower_parameters() {
    bool lowered = false;
    for (std::size_t i = 0; i < trial_.workload.size(); ++i) {
      const auto room = [&] {
        const Parameter& parameter = trial_.workload[i];
        return parameter.value - std::min(parameter.least, parameter.value);
      };
      std::uint64_t step = room();
      while (step != 0) {
        Trial next = trial_;
        next.workload[i].value -= step;
        if (fails_soon(next)) {
          trial_ = next;
          lowered = true;
        } else {
          step /= 2;
        }
        step = std::min(step, room());
      }
    }
    return lowered;
  }

  static constexpr std::uint64_t kMovesMax = 64;
  static constexpr std::size_t kChoicesToRead = 16;
  const Scenario& scenario_;
  const ShrinkOptions& options_;
  const std::string kind_;  ///< of failure
  Trial trial_;             ///< the smallest so far, ...
  Outcome outcome_;         ///< ... and a run of it
  std::uint64_t runs_ = 0;
  bool over_ = false;
};

}  // namespace

Shrunk shrink(const Scenario& scenario, const Trial& trial, const Outcome& outcome,
              const ShrinkOptions& options) {
  return Shrinking(scenario, trial, outcome, options).run();
}

Trial shrink(const Scenario& scenario, const Trial& trial, const ShrinkOptions& options) {
  const Outcome outcome = scenario(trial);
  return outcome.problem.empty() ? trial : shrink(scenario, trial, outcome, options).trial;
}

}  // namespace anyrdma::sim
