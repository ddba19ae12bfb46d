#include "recording/packets/packet_fields.h"

#include <vector>

#include "recording/packets/ip_packet.h"

namespace anyrdma::recording {
namespace {

using verbs::soft::Packet;

void put_ip_packet(FieldWriter& out, const Packet& packet) {
  const std::vector<std::uint8_t> head = ip_head(packet);
  out.put(kOtherThanRoce);
  out.put(packet.ip_protocol);
  out.put(packet.ip_fragment);
  out.put(packet.size);
  out.put(static_cast<std::uint8_t>(head.size()));
  out.put_bytes(head);
}

void put_packet(FieldWriter& out, const Packet& packet) {
  out.put_bytes(packet.source.raw);
  out.put_bytes(packet.destination.raw);
  if (packet.ip_protocol != 0) return put_ip_packet(out, packet);
  const std::span<const std::uint8_t> datagram = packet.payload();
  const roce::Envelope envelope = roce::open(datagram);
  out.put(static_cast<std::uint8_t>(envelope.error));
  if (envelope.error != roce::DecodeError::kNone) return out.put(packet.size);
  out.put_bytes(datagram.first(roce::Bth::kBytes));
  const std::uint8_t opcode = envelope.bth.opcode;
  for (const KeptHeader& kept : kKeptHeaders) {
    if ((roce::kOpcodes[opcode].headers & kept.header) == 0) continue;
    const std::size_t at = roce::offset_of(opcode, kept.header);
    out.put_bytes(datagram.subspan(at + kept.skip, bytes_of(kept.header) - kept.skip));
  }
  out.put(static_cast<std::uint32_t>(envelope.payload.size()));
  if (is_management(envelope)) out.put_bytes(envelope.payload);
}

}  // namespace

FieldWriter fields_of(const Packet& packet) {
  FieldWriter out;
  put_packet(out, packet);
  return out;
}

void put_parameters(FieldWriter& out, const rdma_cm_event& event) {
  const rdma_conn_param& conn = event.param.conn;
  out.put(conn.responder_resources);
  out.put(conn.initiator_depth);
  out.put(conn.flow_control);
  out.put(conn.retry_count);
  out.put(conn.rnr_retry_count);
  out.put(conn.srq);
  out.put(conn.qp_num);
  out.put(conn.private_data_len);
  out.put_bytes({static_cast<const std::uint8_t*>(conn.private_data), conn.private_data_len});
}

}  // namespace anyrdma::recording
