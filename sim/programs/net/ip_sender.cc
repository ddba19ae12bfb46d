#include "sim/programs/net/ip_sender.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "recording/packets/ip_packet.h"

namespace anyrdma::sim::programs {
namespace {

using verbs::soft::Packet;

/// Behind IP's header; a multiple of 8. Links that carry RDMA's longest packets have room for it.
constexpr std::size_t kPartMax = 4096;

std::optional<std::size_t> interface_of(const Host& host, const ibv_gid& source) {
  for (std::size_t i = 0; i < host.interfaces().size(); ++i) {
    for (const transport::soft::Prefix& prefix : host.interfaces()[i].prefixes) {
      if (std::equal(prefix.address.ip.begin(), prefix.address.ip.end(), source.raw)) return i;
    }
  }
  return std::nullopt;
}

Address address_of(const ibv_gid& gid, std::uint16_t port) {
  Address address = Address::from_gid(gid);
  address.port = port;
  if (address.is_link_local()) address.scope = 1;
  return address;
}

}  // namespace

void IpSender::prepare(const Address& source, const Address& destination) {
  packet_->source = source.gid();
  packet_->destination = destination.gid();
  packet_->traffic_class = 0;
  packet_->hop_limit = 64;
  packet_->ip_identification = 0;
  packet_->ip_fragment = 0x4000;
}

void IpSender::send_packet(Host& from) {
  if (const auto interface = interface_of(from, packet_->source))
    from.interfaces().send_from(*interface, *packet_);
}

void IpSender::send(Host& from, const Address& source, const Address& destination,
                    const tcp::Segment& segment) {
  prepare(source, destination);
  const std::size_t scale = segment.has(tcp::kSyn) ? 0 : tcp::kWindowScale;
  recording::write_tcp(*packet_,
                       {.source = source.port,
                        .destination = destination.port,
                        .sequence = segment.sequence,
                        .acknowledged = segment.acknowledged,
                        .flags = segment.flags,
                        .window = static_cast<std::uint16_t>(segment.window >> scale)},
                       tcp::kSegmentMax, tcp::kWindowScale, segment.data);
  send_packet(from);
}

void IpSender::send(Host& from, const Address& source, const Address& destination,
                    std::span<const std::byte> datagram) {
  prepare(source, destination);
  std::vector<std::uint8_t> whole(recording::UdpHeader::kBytes + datagram.size());
  if (!datagram.empty())
    std::memcpy(whole.data() + recording::UdpHeader::kBytes, datagram.data(), datagram.size());
  recording::seal_udp(packet_->source, packet_->destination,
                      {.source = source.port, .destination = destination.port}, whole);
  if (whole.size() <= kPartMax) {
    packet_->ip_protocol = recording::kIpUdp;
    packet_->size = static_cast<std::uint16_t>(whole.size());
    std::copy(whole.begin(), whole.end(), packet_->storage.begin());
    return send_packet(from);
  }
  ++identification_;
  for (std::size_t at = 0; at < whole.size(); at += kPartMax) {
    const std::size_t size = std::min(kPartMax, whole.size() - at);
    recording::write_fragment(*packet_, {.protocol = recording::kIpUdp,
                                         .identification = identification_,
                                         .offset = at,
                                         .more = at + size < whole.size(),
                                         .data = std::span(whole).subspan(at, size)});
    send_packet(from);
  }
}

void IpSender::refuse(Host& from, const Packet& lost) {
  prepare(Address::from_gid(lost.destination), Address::from_gid(lost.source));
  recording::write_refusal(*packet_, lost);
  send_packet(from);
}

std::optional<TcpArrival> tcp_arrival(const Packet& packet) {
  const auto view = recording::read_tcp(packet.payload());
  if (!view) return std::nullopt;
  const std::size_t scale = view->header.has(recording::TcpHeader::kSyn) ? 0 : tcp::kWindowScale;
  return TcpArrival{.local = address_of(packet.destination, view->header.destination),
                    .peer = address_of(packet.source, view->header.source),
                    .segment = {.sequence = view->header.sequence,
                                .acknowledged = view->header.acknowledged,
                                .flags = view->header.flags,
                                .window = std::size_t{view->header.window} << scale,
                                .data = view->data}};
}

std::optional<UdpArrival> udp_arrival(const ibv_gid& source, const ibv_gid& destination,
                                      std::span<const std::uint8_t> payload) {
  const auto view = recording::read_udp(payload);
  if (!view) return std::nullopt;
  return UdpArrival{.local = address_of(destination, view->header.destination),
                    .peer = address_of(source, view->header.source),
                    .data = std::as_bytes(view->data)};
}

}  // namespace anyrdma::sim::programs
