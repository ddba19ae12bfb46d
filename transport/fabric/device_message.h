// How a fabric's gateway tells members what happens to the device of their host: packets that only
// they see, as those of neighbour_message.h.
#pragma once

#include <optional>

#include "transport/soft/device_change.h"
#include "verbs/soft/packet.h"

namespace anyrdma::transport::fabric {

struct DeviceMessage {
  soft::DeviceChange change{};

  /// Nothing: another packet.
  [[nodiscard]] static std::optional<DeviceMessage> parse(const verbs::soft::Packet& packet);
  /// Into a fresh packet.
  void serialize(verbs::soft::Packet& packet) const;
};

}  // namespace anyrdma::transport::fabric
