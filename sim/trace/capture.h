// A capture of the wire: packets are kept as they were sent, and become a pcap file when asked for.
#pragma once

#include <cstdint>
#include <vector>

#include "verbs/soft/frame.h"
#include "verbs/soft/packet.h"
#include "verbs/time.h"

namespace anyrdma::sim {

class Capture {
 public:
  void add(verbs::Instant now, const verbs::soft::Packet& packet, const roce::Mac& source,
           const roce::Mac& destination);
  /// Returns the pcap file. This function computes the ICRC of each packet, since the simulator
  /// sends packets without.
  [[nodiscard]] std::vector<std::uint8_t> file() const;

 private:
  /// A packet's header; its payload is in bytes_.
  struct Kept {
    verbs::Duration time;
    roce::Mac source;
    roce::Mac destination;
    ibv_gid from;
    ibv_gid to;
    std::uint16_t udp_source_port;
    std::uint8_t traffic_class;
    std::uint8_t hop_limit;
    std::uint8_t ip_protocol;
    std::uint16_t ip_identification;
    std::uint16_t ip_fragment;
    bool icrc_valid;
    std::size_t begin;
    std::uint16_t size;
  };

  std::vector<Kept> kept_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace anyrdma::sim
