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
  /// Call when the queue pair is created or destroyed: what was known about its number is dropped.
  void forget(const std::string& device, std::uint32_t qp);
  void on_dead(const IdName& id);
  /// Call when nothing is left to happen in the run, for each queue pair that is in RTS.
  void on_ready_to_send(const std::string& device, std::uint32_t qp);

 private:
  using QueuePair = std::pair<std::string, std::uint32_t>;

  Violations& violations_;
  std::map<QueuePair, IdName> bound_;
  std::multimap<IdName, QueuePair> pairs_;  ///< the same, by id
  std::set<IdName> dead_;                   ///< of those that are bound
};

}  // namespace anyrdma::check
