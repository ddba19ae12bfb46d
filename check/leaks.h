// Checks for leaks at the end of a run: event channels, verbs objects, and timers without an owner.
// (check/legality.h checks ids. No packets are in flight at the end.)
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

  /// Call at the end, with the number of objects that a device or a host still has.
  void on_left(const std::string& owner, std::uint64_t count, std::string_view what);
  /// Call at any time, with a queue pair's timers and the device's: each timer must belong to a
  /// queue pair.
  void on_timers(const std::string& device, std::uint32_t qp, const QpCensus& census);
  void on_timers(const std::string& device, std::size_t armed, std::size_t owned);

 private:
  Violations& violations_;
};

}  // namespace anyrdma::check
