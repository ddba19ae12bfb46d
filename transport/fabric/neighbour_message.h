// Messages by which a process asks its fabric's gateway whether a neighbour answers, and the
// gateway's replies. A message is a packet with an opcode that RoCE reserves for manufacturers.
// Only the process and the gateway receive it.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <optional>

#include "transport/fabric/rendezvous/slot.h"
#include "verbs/soft/packet.h"

namespace anyrdma::transport::fabric {

struct NeighbourMessage {
  enum class Kind : std::uint8_t { kQuestion, kAnswer };

  Kind kind = Kind::kQuestion;
  Slot asker{};
  std::uint64_t number = 0;        ///< the number that the sender gave to the question
  std::uint32_t milliseconds = 0;  ///< in a question: the timeout
  std::uint32_t error = 0;         ///< 0 or an errno, in a reply
  std::uint8_t rail = 0;           ///< the interface towards the neighbour, from 0
  ibv_gid neighbour{};

  bool operator==(const NeighbourMessage& other) const;

  /// Parses a message. Nothing: the packet is no such message.
  [[nodiscard]] static std::optional<NeighbourMessage> parse(const verbs::soft::Packet& packet);
  /// Writes the message into a new packet.
  void serialize(verbs::soft::Packet& packet) const;
};

}  // namespace anyrdma::transport::fabric
