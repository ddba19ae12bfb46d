// A monitor of a simulated world (sim/monitor.h) that runs all checkers of the folder check/.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "check/entry_checkers.h"
#include "sim/mistakes.h"
#include "sim/monitor.h"
#include "sim/world.h"

namespace anyrdma::sim::check {

/// A monitor that runs all checkers on a world. Install this class, or a class derived from it that
/// reports the violations at the end.
class Checkers : public Monitor {
 public:
  void on_entry(const recording::Entry& entry) override { all_.on_entry(entry); }
  /// Returns all violations and mistakes found so far. Some violations are found only at the end of
  /// the world: see on_end.
  [[nodiscard]] std::vector<std::string> violations() const override {
    std::vector<std::string> all = all_.findings();
    all.insert(all.end(), mistakes_.begin(), mistakes_.end());
    return all;
  }
  /// Adds a line about a program that used memory or queues of the device wrongly (sim/mistakes.h)
  /// to violations().
  void on_mistake(const std::string& line) override { mistakes_.push_back(line); }
  /// Adds what was retried (check/retried.h) since the last call to the remarks of the world, which
  /// its options may allow, or deny.
  void report_retried(World& world) {
    for (anyrdma::check::Retried::Remark& each : all_.take_remarks()) {
      if (world.mistakes() == nullptr) continue;
      world.mistakes()->add({.checker = "retried",
                             .program = std::move(each.program),
                             .remark = true,
                             .text = std::move(each.text)});
    }
  }
  void on_end(World& world) override {
    all_.finish();
    report_retried(world);
  }

 private:
  anyrdma::check::Checkers all_;
  std::vector<std::string> mistakes_;  ///< that devices have found
};

/// As Checkers::report_retried, if such a monitor is installed in the world.
inline void report_retried(World& world) {
  if (auto* const checkers = dynamic_cast<Checkers*>(world.monitor()); checkers != nullptr)
    checkers->report_retried(world);
}

}  // namespace anyrdma::sim::check
