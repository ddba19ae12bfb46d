// The claim: at the end no event channel, no verbs object and no timer without an owner is left.
// (Ids: check/legality.h. At rest there are no packets in flight, by definition.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "check/census.h"
#include "check/violations.h"

namespace anyrdma::check {

class Leaks {
 public:
  explicit Leaks(Violations& violations) : violations_(violations) {}

  /// At the end: objects that a device or a host still has.
  void on_left(const std::string& owner, std::uint64_t count, std::string_view what);
  /// Any time: a queue pair's timers, and the device's, which must all be of some queue pair.
  void on_timers(const std::string& device, std::uint32_t qp, const QpCensus& census);
  void on_timers(const std::string& device, std::size_t armed, std::size_t owned);

 private:
  Violations& violations_;
};

}  // namespace anyrdma::check
