// Messages by which a process asks its fabric's gateway whether a neighbour answers, and the
// gateway's replies. They are packets that only these two see, with an opcode that RoCE reserves
// for manufacturers.
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
  std::uint64_t number = 0;        ///< the sender's number of the question
  std::uint32_t milliseconds = 0;  ///< timeout, in a question
  std::uint32_t error = 0;         ///< 0 or an errno, in a reply
  ibv_gid neighbour{};

  bool operator==(const NeighbourMessage& other) const;

  /// Parses a message; nothing: the packet is another one.
  [[nodiscard]] static std::optional<NeighbourMessage> parse(const verbs::soft::Packet& packet);
  /// Writes the message into a new packet.
  void serialize(verbs::soft::Packet& packet) const;
};

}  // namespace anyrdma::transport::fabric
