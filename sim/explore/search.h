// Makes runs, in one process or many, counts them, and keeps those that go wrong, shrunk.
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
  /// For each fault of the plan, its number in the menu; empty: the faults are not from the menu.
  std::vector<std::size_t> drawn{};
  /// The milestone at which it branched off an earlier one, see Guide; none: it did not.
  std::optional<std::uint64_t> origin{};
  bool changed = false;  ///< it is a changed one of an earlier run
};

class Guide;

class Search {
 public:
  Search(const ExploreOptions& options, const Scenario& scenario);

  using Make = std::function<Run(std::uint64_t)>;
  using Then = std::function<void(const Run&, const Outcome&)>;
  /// Makes make(0), make(1) ... and gives each that went well to `then`, in this order. make(i) is
  /// called when `then` has had exactly the results of those up to i less kWindow. False: the
  /// search is over.
  [[nodiscard]] bool run(std::uint64_t count, bool want_steps, const Make& make, const Then& then);
  static constexpr std::uint64_t kWindow = 64;

  /// The guide gets the outcome of each run. Null: no guide. The guide must outlive the runs.
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
