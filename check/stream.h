// Identifies the messages in one direction of a connection.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "base/text.h"

namespace anyrdma::check {

/// Identifies a connected queue pair by its GID and number.
struct EndKey {
  std::array<std::uint8_t, 16> gid{};
  std::uint32_t qp = 0;
  auto operator<=>(const EndKey&) const = default;
  [[nodiscard]] std::string to_string() const {
    return hex_text(gid) + " QP " + std::to_string(qp);
  }
};

/// One direction of one connection, which both ends identify in the same way. Messages of an
/// extended connection (XRC) keep their order for each shared receive queue: each is a stream.
struct Stream {
  EndKey from{};
  EndKey to{};
  std::uint32_t psn = 0;                    ///< the first PSN
  std::optional<std::uint64_t> to_queue{};  ///< number of the shared receive queue
  auto operator<=>(const Stream&) const = default;
  [[nodiscard]] std::string to_string() const {
    std::string text =
        from.to_string() + " to " + to.to_string() + " from PSN " + std::to_string(psn);
    if (to_queue) text += " to SRQ " + std::to_string(*to_queue);
    return text;
  }
};

}  // namespace anyrdma::check
