#include "tests/wire/fields.h"

#include <cstring>
#include <memory>
#include <stdexcept>

#include "verbs/soft/frame.h"
#include "verbs/soft/icrc.h"
#include "verbs/soft/packet.h"
#include "verbs/soft/wire/headers.h"

namespace anyrdma::tests {
namespace {

void add_bth(Fields& fields, const roce::Bth& bth) {
  fields.number(".bth.opcode", bth.opcode);
  fields.number(".bth.se", bth.solicited);
  fields.number(".bth.m", bth.migration);
  fields.number(".bth.padcnt", bth.pad);
  fields.number(".bth.tver", bth.version);
  fields.number(".bth.p_key", bth.partition_key);
  fields.number(".bth.destqp", value(bth.destination));
  fields.number(".bth.a", bth.ack_request);
  fields.number(".bth.psn", bth.psn.value());
}

void add_aeth(Fields& fields, const roce::Aeth& aeth) {
  const auto kind = static_cast<unsigned>(aeth.kind);
  fields.number(".aeth.syndrome", kind << 5 | aeth.value);
  fields.number(".aeth.syndrome.opcode", kind);
  if (aeth.kind == roce::AckKind::kAck) {
    fields.number(".aeth.syndrome.credit_count", aeth.value);
  } else if (aeth.kind == roce::AckKind::kRnrNak) {
    fields.number(".aeth.syndrome.timer", aeth.value);
  } else if (aeth.kind == roce::AckKind::kNak) {
    fields.number(".aeth.syndrome.error_code", aeth.value);
  }
  fields.number(".aeth.msn", aeth.message_sequence);
}

void add_extended(Fields& fields, const roce::Headers& headers) {
  const unsigned present = roce::kOpcodes[headers.bth.opcode].headers;
  if ((present & roce::kDeth) != 0) {
    fields.number(".deth.q_key", headers.deth.queue_key);
    fields.number(".deth.srcqp", value(headers.deth.source));
  }
  if ((present & roce::kReth) != 0) {
    fields.number(".reth.va", headers.reth.address);
    fields.number(".reth.r_key", headers.reth.remote_key);
    fields.number(".reth.dmalen", headers.reth.length);
  }
  if ((present & roce::kAtomicEth) != 0) {
    fields.number(".reth.va", headers.atomic.address);  // Wireshark's names for these two
    fields.number(".reth.r_key", headers.atomic.remote_key);
    fields.number(".atomiceth.swapdt", headers.atomic.swap_or_add);
    fields.number(".atomiceth.cmpdt", headers.atomic.compare);
  }
  if ((present & roce::kAeth) != 0) add_aeth(fields, headers.aeth);
  if ((present & roce::kAtomicAckEth) != 0) {
    fields.number(".atomicacketh.origremdt", headers.atomic_ack.original);
  }
  if ((present & roce::kImmDt) != 0) fields.number(".immdt", headers.immediate.data);
  if ((present & roce::kIeth) != 0) fields.number(".ieth", headers.invalidate.remote_key);
}

void add_addresses(Fields& fields, const verbs::soft::Packet& packet) {
  const bool v4 = roce::is_ipv4(packet);
  const auto bytes = [v4](const ibv_gid& gid) { return std::span(gid.raw).subspan(v4 ? 12 : 0); };
  fields.bytes(v4 ? "ip.src" : "ipv6.src", bytes(packet.source));
  fields.bytes(v4 ? "ip.dst" : "ipv6.dst", bytes(packet.destination));
  fields.number(v4 ? "ip.ttl" : "ipv6.hlim", packet.hop_limit);
  fields.number("udp.srcport", packet.udp_source_port);
  fields.number("udp.length", roce::kUdpBytes + packet.size);
}

/// As Wireshark prints it: in the order of the bytes on the wire.
void add_icrc(Fields& fields, const verbs::soft::Packet& packet) {
  std::uint32_t icrc = 0;
  for (const std::uint8_t byte : packet.payload().last(4)) icrc = icrc << 8 | byte;
  fields.number(".invariant.crc", icrc);
  if (!roce::icrc_ok(packet)) throw std::runtime_error("the ICRC is wrong");
}

}  // namespace

void Fields::number(const std::string& name, std::uint64_t value) {
  add(name, std::to_string(value));
}

void Fields::bytes(const std::string& name, std::span<const std::uint8_t> value) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "\"";
  for (const std::uint8_t byte : value) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  add(name, text + "\"");
}

void Fields::add(const std::string& name, const std::string& value) {
  if (!text_.empty()) text_ += ", ";
  text_ += name[0] == '.' ? "\"infiniband" : "\"";
  text_ += name + "\": " + value;
}

Fields fields_of(std::span<const std::uint8_t> frame) {
  Fields fields;
  const auto packet = std::make_unique<verbs::soft::Packet>();
  const roce::FrameError error = roce::from_frame(frame, *packet);
  if (error == roce::FrameError::kNotIp || error == roce::FrameError::kNotRoce) return fields;
  if (error != roce::FrameError::kNone) throw std::runtime_error("a frame does not parse");
  const roce::Decoded decoded = roce::decode(packet->payload());
  if (decoded.error != roce::DecodeError::kNone) throw std::runtime_error("a packet is refused");

  fields.number("frame.len", frame.size());
  add_addresses(fields, *packet);
  add_bth(fields, decoded.headers.bth);
  add_extended(fields, decoded.headers);
  add_icrc(fields, *packet);
  const bool management = decoded.headers.bth.opcode == roce::kUdSendOnly &&
                          decoded.headers.bth.destination == wire::Qpn{1};
  if (management) {
    add_message(fields, decoded.payload);
  } else if (!decoded.payload.empty()) {
    fields.bytes("data.data", decoded.payload);
    fields.number("data.len", decoded.payload.size());
  }
  return fields;
}

}  // namespace anyrdma::tests
