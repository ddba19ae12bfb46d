// The claim: at the end no event channel, no verbs object and no timer without an owner is left.
// (Ids: sim/legality/legality.h. At rest there are no packets in flight, by definition.)
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
