// Messages by which a member asks its fabric's gateway whether a neighbour answers, and the
// gateway's reply. Only these two see the packets; their opcode is one that RoCE leaves to
// manufacturers.
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
  std::uint64_t number = 0;        ///< the asker's own
  std::uint32_t milliseconds = 0;  ///< how long to look, in a question
  std::uint32_t error = 0;         ///< 0 or an errno, in an answer
  ibv_gid neighbour{};

  bool operator==(const NeighbourMessage& other) const;

  /// Nothing: another packet.
  [[nodiscard]] static std::optional<NeighbourMessage> parse(const verbs::soft::Packet& packet);
  /// Into a fresh packet.
  void serialize(verbs::soft::Packet& packet) const;
};

}  // namespace anyrdma::transport::fabric
