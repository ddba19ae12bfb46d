// The checker of leaks at the end of a run: event channels, verbs objects, and timers that belong
// to no queue pair. The checker of ids is in check/legality.h.
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

  /// Call at the end of the run. `count` is the number of objects of kind `what` that the device or
  /// host `owner` still has.
  void on_left(const std::string& owner, std::uint64_t count, std::string_view what);
  /// Checks that each armed timer of the device belongs to a queue pair. Call it at any time, with
  /// the census of queue pair `qp`.
  void on_timers(const std::string& device, std::uint32_t qp, const QpCensus& census);
  void on_timers(const std::string& device, std::size_t armed, std::size_t owned);

 private:
  Violations& violations_;
};

}  // namespace anyrdma::check
