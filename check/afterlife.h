// Checks that a queue pair leaves RTS when its connection ends: once its id is destroyed, or its
// owner has disconnected, it is in another state or destroyed.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "check/violations.h"

namespace anyrdma::check {

class Afterlife {
 public:
  explicit Afterlife(Violations& violations) : violations_(violations) {}

  /// connect or accept named this queue pair of that device ("host/anyrdma0").
  void on_bound(const IdName& id, const std::string& device, std::uint32_t qp);
  /// A new queue pair has that number.
  void on_opened(const std::string& device, std::uint32_t qp) { bound_.erase({device, qp}); }
  void on_dead(const IdName& id) { dead_.insert(id); }
  /// Call at rest (nothing is left to happen): this queue pair is in RTS.
  void on_ready_to_send(const std::string& device, std::uint32_t qp);

 private:
  Violations& violations_;
  std::map<std::pair<std::string, std::uint32_t>, IdName> bound_;
  std::set<IdName> dead_;
};

}  // namespace anyrdma::check
