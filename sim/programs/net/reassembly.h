// Reassembles datagrams from IP fragments. Source: RFC 791 (3.2), RFC 8200 (4.5), RFC 5722.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "recording/packets/ip_packet.h"
#include "verbs/time.h"

namespace anyrdma::sim::programs {

class Reassembly {
 public:
  /// Adds a fragment. Returns the datagram when all its fragments have arrived. An incomplete
  /// datagram is dropped after 30 s of virtual time.
  [[nodiscard]] std::optional<std::vector<std::uint8_t>> add(verbs::Instant now,
                                                             const verbs::soft::Packet& packet,
                                                             const recording::Fragment& fragment);

 private:
  using Ip = std::array<std::uint8_t, 16>;
  using Key = std::tuple<Ip, Ip, std::uint8_t, std::uint32_t>;
  struct Datagram {
    verbs::Instant begun{};
    std::map<std::size_t, std::vector<std::uint8_t>> parts;  ///< by offset
    std::optional<std::size_t> size;                         ///< known with the last part
  };

  std::map<Key, Datagram> datagrams_;
};

}  // namespace anyrdma::sim::programs
