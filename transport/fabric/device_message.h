// Messages about events of a host's device, from the gateway of a fabric to the processes of the
// host. A message has the form of a packet, which only the gateway and these processes receive.
#pragma once

#include <cstdint>
#include <optional>

#include "transport/soft/device_change.h"
#include "verbs/soft/packet.h"

namespace anyrdma::transport::fabric {

struct DeviceMessage {
  soft::DeviceChange change{};
  std::uint8_t rail = 0;  ///< the number of the device, from 0

  /// Parses a message. Nothing: the packet is no such message.
  [[nodiscard]] static std::optional<DeviceMessage> parse(const verbs::soft::Packet& packet);
  /// Writes the message into a new packet.
  void serialize(verbs::soft::Packet& packet) const;
};

}  // namespace anyrdma::transport::fabric
