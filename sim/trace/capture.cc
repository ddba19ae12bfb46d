#include "sim/trace/capture.h"

#include <cstring>
#include <memory>

#include "verbs/soft/icrc.h"
#include "verbs/soft/wire/pcap.h"

namespace anyrdma::sim {

using verbs::soft::Packet;

void Capture::add(verbs::Instant now, const Packet& packet, const roce::Mac& source,
                  const roce::Mac& destination) {
  kept_.push_back({.time = now.time_since_epoch(),
                   .source = source,
                   .destination = destination,
                   .from = packet.source,
                   .to = packet.destination,
                   .udp_source_port = packet.udp_source_port,
                   .traffic_class = packet.traffic_class,
                   .hop_limit = packet.hop_limit,
                   .ip_protocol = packet.ip_protocol,
                   .ip_identification = packet.ip_identification,
                   .ip_fragment = packet.ip_fragment,
                   .icrc_valid = packet.icrc_valid,
                   .begin = bytes_.size(),
                   .size = packet.size});
  const auto payload = packet.payload();
  bytes_.insert(bytes_.end(), payload.begin(), payload.end());
}

std::vector<std::uint8_t> Capture::file() const {
  std::vector<std::uint8_t> file = roce::pcap::file_header();
  const auto packet = std::make_unique<Packet>();
  for (const Kept& kept : kept_) {
    packet->source = kept.from;
    packet->destination = kept.to;
    packet->udp_source_port = kept.udp_source_port;
    packet->traffic_class = kept.traffic_class;
    packet->hop_limit = kept.hop_limit;
    packet->ip_protocol = kept.ip_protocol;
    packet->ip_identification = kept.ip_identification;
    packet->ip_fragment = kept.ip_fragment;
    packet->icrc_valid = kept.icrc_valid;
    packet->size = kept.size;
    std::memcpy(packet->storage.data(), bytes_.data() + kept.begin, kept.size);
    if (packet->ip_protocol == 0) roce::seal(*packet);
    roce::pcap::append(file, kept.time, roce::to_frame(*packet, kept.source, kept.destination));
  }
  return file;
}

}  // namespace anyrdma::sim
