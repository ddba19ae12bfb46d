// The claim: at the end nothing is left: no event channel, no verbs object, no timer that belongs
// to nobody. (Ids: sim/legality/legality.h. Packets in flight, and whatever else could still
// happen: at rest there is none, or it would not be rest.)
#pragma once

#include <string>

#include "sim/check/violations.h"
#include "verbs/soft/hca_observer.h"

namespace anyrdma::sim::check {

class Leaks {
 public:
  explicit Leaks(Violations& violations) : violations_(violations) {}

  /// At the end: what a device holds beyond what it held before any program ran.
  void on_device_end(const std::string& device, const verbs::soft::Census& census);
  void on_channels_end(const std::string& host, int channels);
  /// Any time: a queue pair's timers, and the device's, which must all be of some queue pair.
  void on_timers(const std::string& device, std::uint32_t qp, const verbs::soft::QpCensus& census);
  void on_timers(const std::string& device, std::size_t armed, std::size_t owned);

 private:
  Violations& violations_;
};

}  // namespace anyrdma::sim::check
