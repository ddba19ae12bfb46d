// Executes the runs of an exploration in one or several processes, counts them, and keeps failing
// runs after shrinking them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/explore/explore.h"
#include "sim/explore/progress.h"

namespace anyrdma::sim {

/// A trial to be run.
struct Run {
  Trial trial;
  RunPlace place{};
  /// For each fault of the trial's plan, its index in ExploreOptions::menu (the faults that a run
  /// may get). Empty: the faults are not from the menu.
  std::vector<std::size_t> drawn{};
  /// The milestone (a rare event, see Guide) up to which this run repeats an earlier run. Absent:
  /// the run repeats no other run.
  std::optional<std::uint64_t> origin{};
  bool changed = false;  ///< whether the run is a mutation of an earlier one
};

class Guide;

class Search {
 public:
  Search(const ExploreOptions& options, const Scenario& scenario);

  using Make = std::function<Run(std::uint64_t)>;
  using Then = std::function<void(const Run&, const Outcome&)>;
  /// Executes the runs make(0), make(1) and so on up to `count`, and calls `then`, in this order,
  /// with each run that had no problem. The call of make(i) comes when `then` has had the results
  /// of exactly the runs before i - kWindow. So the choice does not depend on the number of
  /// processes. Returns false if the search is over.
  [[nodiscard]] bool run(std::uint64_t count, bool want_steps, const Make& make, const Then& then);
  static constexpr std::uint64_t kWindow = 64;

  /// Sets the guide (guide.h), which gets the outcome of each run and selects later trials. Null:
  /// no guide. The guide must outlive the search.
  void set_guide(Guide* guide) { guide_ = guide; }
  /// The following runs and their failures are not counted.
  void set_quiet(bool quiet) { quiet_ = quiet; }

  Exploration result;

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] bool is_late();
  [[nodiscard]] bool is_interrupted();
  [[nodiscard]] bool run_here(std::uint64_t count, const Make& make, const Then& then);
  [[nodiscard]] bool take(const Run& run, Outcome&& outcome, const Then& then);
  [[nodiscard]] Outcome perform_at(std::uint64_t i, const Trial& trial) const;
  /// False: the search is over.
  [[nodiscard]] bool note(const Run& run, const Outcome& outcome);
  void count_faults(const Run& run, const Outcome& outcome);
  [[nodiscard]] Standing standing() const;
  [[nodiscard]] Outcome isolated(const Trial& trial, const std::function<bool()>& stop) const;
  [[nodiscard]] Failure explain(const Trial& trial, const Outcome& outcome);

  const ExploreOptions& options_;
  const Scenario& scenario_;
  Progress progress_;
  Clock::time_point start_ = Clock::now();
  std::uint64_t total_ = 0;
  std::vector<std::string> menu_;  ///< as text
  Guide* guide_ = nullptr;
  bool quiet_ = false;
};

}  // namespace anyrdma::sim
