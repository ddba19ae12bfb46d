// Messages by which a fabric's gateway tells the processes of its host about events of the host's
// device. A message is a packet that only gateway and processes see, like those of
// neighbour_message.h.
#pragma once

#include <optional>

#include "transport/soft/device_change.h"
#include "verbs/soft/packet.h"

namespace anyrdma::transport::fabric {

struct DeviceMessage {
  soft::DeviceChange change{};

  /// Parses a message; nothing: the packet is another one.
  [[nodiscard]] static std::optional<DeviceMessage> parse(const verbs::soft::Packet& packet);
  /// Writes the message into a new packet.
  void serialize(verbs::soft::Packet& packet) const;
};

}  // namespace anyrdma::transport::fabric
