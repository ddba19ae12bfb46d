// The scenario kit for failover: two hosts with two rails each, a stream of items between them, and
// one rail that fails at any moment (docs/failover.md).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/host.h"
#include "sim/testing/delivery.h"
#include "sim/world.h"

namespace anyrdma::sim::testing {

/// One run: a world with the hosts "client" and "server". Both have the interfaces eth0 and eth1,
/// with the RDMA devices anyrdma0 and anyrdma1: rail 0 and rail 1.
class TwoRails {
 public:
  TwoRails(std::uint64_t seed, const DeliveryPromise& promise);
  TwoRails(const TwoRails&) = delete;
  TwoRails& operator=(const TwoRails&) = delete;

  [[nodiscard]] World& world() { return world_; }
  [[nodiscard]] Host& client() { return client_; }
  [[nodiscard]] Host& server() { return server_; }
  /// The server's address on a rail.
  [[nodiscard]] Address address(std::size_t rail, std::uint16_t port) const {
    return server_.address(port, rail);
  }

  /// Call when a program is given an item, and when one has delivered it.
  void sent(std::uint64_t item) { delivery_.sent(item, world_.now()); }
  void delivered(std::uint64_t item) { delivery_.delivered(item, world_.now()); }
  [[nodiscard]] Delivery& delivery() { return delivery_; }

 private:
  Delivery delivery_;  // before the world, whose programs use it
  World world_;
  Host& client_;
  Host& server_;
};

/// The failures that are tried, and their moments.
struct RailFailures {
  std::uint64_t seed = 1;
  DeliveryPromise promise{};
  /// In how many runs each failure happens, at moments from the beginning to the end of the run
  /// without a failure, in equal distances. At least 1.
  std::size_t moments = 16;
  /// Actions of the fault language (docs/fault-language.md), one for each series of runs.
  std::vector<std::string> actions{
      "cut-rail client eth0",
      "cut-rail client eth1",
      "port-down client anyrdma0",
      "port-down server anyrdma0",
      "port-down server anyrdma1",
      "cut-rail server eth0 for 50ms",
      "port-down client anyrdma0 for 5ms",
  };
};

/// Runs the programs that `start` spawns once without a failure, and then once for each action and
/// moment. Returns a line for each broken promise, with the fault that broke it, such as "at
/// 12.5ms: cut-rail client eth0: item 7 was sent at 0.012000000 s and is lost". A program that must
/// end and does not is a broken promise, too, and so is a wrong action.
[[nodiscard]] std::vector<std::string> problems_with_rails(
    const RailFailures& failures, const std::function<void(TwoRails&)>& start);

}  // namespace anyrdma::sim::testing
