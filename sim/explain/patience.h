// Stops runs that go on for much longer than runs that pass.
#pragma once

#include <vector>

#include "sim/explain/probe.h"

namespace anyrdma::sim::explain {

/// A failing run often hangs: its programs poll until they give up, which takes most of its time.
/// So a run that may be stopped has a limit of virtual time, counted from Probe::parts: several
/// times that of the slowest run that has passed before. A stopped run counts as failing, but might
/// have passed later. Runs that may not be stopped have certain verdicts.
class Patience {
 public:
  /// `judge` outlives the object.
  explicit Patience(const Judge& judge) : judge_(judge) {}

  /// A judge. The limit is the same for all of the probes, so that their order does not matter.
  [[nodiscard]] std::vector<Answer> judge(const std::vector<Probe>& probes);
  /// Whether runs have been stopped since the last call of never_stop().
  [[nodiscard]] bool has_stopped() const { return has_stopped_; }
  /// From now on no run is stopped.
  void never_stop();

 private:
  const Judge& judge_;
  verbs::Duration slowest_{};  ///< of those that passed; zero: none
  bool stops_ = true;
  bool has_stopped_ = false;
};

}  // namespace anyrdma::sim::explain
