#include "tests/conformance/backend.h"

#include <algorithm>
#include <array>
#include <vector>

#include "verbs/assert.h"

namespace anyrdma::conformance {

std::string_view to_string(Ability ability) {
  constexpr std::array<std::string_view, static_cast<std::size_t>(kLastAbility) + 1> kNames = {
      "lose chosen CM messages",
      "a neighbour without RDMA",
      "a host for each party",
      "IPv6 addresses",
      "unplug a device",
      "a bonded interface",
      "multicast",
      "a device with ECE options",
      "atomic operations",
  };
  return kNames[static_cast<std::size_t>(ability)];
}

std::string_view to_string(Message message) {
  constexpr std::array<std::string_view, static_cast<std::size_t>(Message::kSidrRep) + 1> kNames = {
      "REQ", "MRA", "REJ", "REP", "RTU", "DREQ", "DREP", "SIDR_REQ", "SIDR_REP"};
  return kNames[static_cast<std::size_t>(message)];
}

void Backend::lose(Side, Message, unsigned) {
  CM_ASSERT(!"the scenario does not say that it needs kLoss");
}
void Backend::remove_device(Side) {
  CM_ASSERT(!"the scenario does not say that it needs kRemoveDevice");
}
void Backend::fail_over(Side) {
  CM_ASSERT(!"the scenario does not say that it needs kFailOver");
}

const std::vector<BackendKind>& backend_kinds() {
  using enum Ability;
  static const std::vector<BackendKind> kKinds = {
      {.name = "sim",
       .abilities = {kLoss, kDeafNeighbour, kTwoHosts, kIPv6, kRemoveDevice, kFailOver, kMulticast},
       .virtual_time = true},
      {.name = "fabric", .abilities = {kMulticast}},
  };
  return kKinds;
}

const BackendKind* find_backend_kind(std::string_view name) {
  const auto found = std::ranges::find(backend_kinds(), name, &BackendKind::name);
  return found == backend_kinds().end() ? nullptr : &*found;
}

}  // namespace anyrdma::conformance
