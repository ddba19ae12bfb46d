// The checker of queue pairs whose connection has ended. Once the id is destroyed, or its owner has
// called rdma_disconnect, the id's queue pair must have left RTS or be destroyed.
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

  /// Call when rdma_connect or rdma_accept named queue pair `qp` of `device` ("host/anyrdma0").
  void on_bound(const IdName& id, const std::string& device, std::uint32_t qp);
  /// Call when a new queue pair gets the number `qp` on `device`. The number's earlier use is
  /// dropped.
  void on_opened(const std::string& device, std::uint32_t qp) { bound_.erase({device, qp}); }
  void on_dead(const IdName& id) { dead_.insert(id); }
  /// Call when nothing is left to happen in the run, for each queue pair that is in RTS.
  void on_ready_to_send(const std::string& device, std::uint32_t qp);

 private:
  Violations& violations_;
  std::map<std::pair<std::string, std::uint32_t>, IdName> bound_;
  std::set<IdName> dead_;
};

}  // namespace anyrdma::check
