#include "recording/packets/packet_text.h"

#include <rdma/rdma_cma.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/text.h"
#include "recording/packets/fields.h"
#include "recording/packets/ip_packet.h"
#include "transport/ibcm/wire/apr.h"
#include "transport/ibcm/wire/drep.h"
#include "transport/ibcm/wire/dreq.h"
#include "transport/ibcm/wire/lap.h"
#include "transport/ibcm/wire/mra.h"
#include "transport/ibcm/wire/rej.h"
#include "transport/ibcm/wire/rep.h"
#include "transport/ibcm/wire/req.h"
#include "transport/ibcm/wire/rtu.h"
#include "transport/ibcm/wire/sidr_rep.h"
#include "transport/ibcm/wire/sidr_req.h"
#include "transport/soft/cma_header.h"

namespace anyrdma::recording {
namespace {

namespace message = ibcm::wire;
using transport::soft::CmaHeader;

/// Private data without the zeros that pad it: quoted if it can be read, else hexadecimal.
void append_data(std::string& text, std::span<const std::uint8_t> data) {
  while (!data.empty() && data.back() == 0) data = data.first(data.size() - 1);
  if (data.empty()) return;
  const bool printable = std::all_of(data.begin(), data.end(), [](std::uint8_t byte) {
    return byte >= ' ' && byte <= '~' && byte != '"' && byte != '\\';
  });
  text += " data=";
  if (!printable) {
    text += hex_text(data);
  } else {
    text += '"' + std::string(data.begin(), data.end()) + '"';
  }
}

void append_ids(std::string& text, wire::CommId local, wire::CommId remote) {
  append(text, " id=0x%08x peer=0x%08x", value(local), value(remote));
}

void append_service(std::string& text, wire::ServiceId id) {
  const std::uint64_t service = value(id);
  const auto space = static_cast<unsigned>(service >> 16);
  const auto port = static_cast<unsigned>(service & 0xffff);
  if (space == RDMA_PS_TCP) {
    append(text, " service=TCP:%u", port);
  } else if (space == RDMA_PS_UDP) {
    append(text, " service=UDP:%u", port);
  } else {
    append(text, " service=0x%016llx", static_cast<unsigned long long>(service));
  }
}

// --- CM messages --------------------------------------------------------------------------------

/// The addresses that Linux's CM puts before the private data of a request, then that.
void append_request_data(std::string& text, std::span<const std::uint8_t> data) {
  if (const auto header = CmaHeader::parse(data); header) {
    text += " from=" + header->source.to_string() + " to=" + header->destination.to_string();
    data = data.subspan(CmaHeader::kSize);
  }
  append_data(text, data);
}

void describe(std::string& text, const message::Req& req) {
  append(text, " id=0x%08x", value(req.local_comm_id));
  append_service(text, req.service_id);
  append(text, " qpn=0x%06x psn=0x%06x", value(req.local_qpn), req.starting_psn.value());
  append(text, " resources=%u depth=%u retry=%u rnr=%u", req.responder_resources,
         req.initiator_depth, req.retry_count, req.rnr_retry_count);
  append_request_data(text, req.private_data);
}

void describe(std::string& text, const message::Rep& rep) {
  append_ids(text, rep.local_comm_id, rep.remote_comm_id);
  append(text, " qpn=0x%06x psn=0x%06x", value(rep.local_qpn), rep.starting_psn.value());
  append(text, " resources=%u depth=%u rnr=%u", rep.responder_resources, rep.initiator_depth,
         rep.rnr_retry_count);
  append_data(text, rep.private_data);
}

void describe(std::string& text, const message::Rej& rej) {
  append_ids(text, rej.local_comm_id, rej.remote_comm_id);
  append(text, " answers=%u reason=%u", static_cast<unsigned>(rej.message), rej.reason);
  append_data(text, rej.private_data);
}

void describe(std::string& text, const message::Mra& mra) {
  append_ids(text, mra.local_comm_id, mra.remote_comm_id);
  append(text, " answers=%u timeout=%u", static_cast<unsigned>(mra.message), mra.service_timeout);
}

void describe(std::string& text, const message::Dreq& dreq) {
  append_ids(text, dreq.local_comm_id, dreq.remote_comm_id);
  append(text, " peer-qpn=0x%06x", value(dreq.remote_qpn));
  append_data(text, dreq.private_data);
}

void describe(std::string& text, const message::SidrReq& request) {
  append(text, " request=0x%08x", value(request.request_id));
  append_service(text, request.service_id);
  append_request_data(text, request.private_data);
}

void describe(std::string& text, const message::SidrRep& reply) {
  append(text, " request=0x%08x status=%u", value(reply.request_id), reply.status);
  append(text, " qpn=0x%06x qkey=0x%08x", value(reply.qpn), reply.q_key);
  append_data(text, reply.private_data);
}

void describe(std::string& text, const message::Apr& apr) {
  append_ids(text, apr.local_comm_id, apr.remote_comm_id);
  append(text, " status=%u", apr.status);
  append_data(text, apr.private_data);
}

template <class Message>
void describe(std::string& text, const Message& other) {  // RTU, DREP, LAP
  append_ids(text, other.local_comm_id, other.remote_comm_id);
  append_data(text, other.private_data);
}

template <class Message>
void append_message(std::string& text, const char* name, message::MadView mad) {
  text += name;
  if (const auto parsed = Message::parse(mad); parsed) {
    describe(text, *parsed);
  } else {
    text += " malformed: " + parsed.error().message();
  }
}

void append_mad(std::string& text, std::span<const std::uint8_t> bytes) {
  if (bytes.size() != message::kMadSize) {
    append(text, "MAD of %zu bytes", bytes.size());
    return;
  }
  const message::MadView mad = bytes.first<message::kMadSize>();
  const auto header = message::MadHeader::parse(mad);
  if (!header) {
    text += "MAD malformed: " + header.error().message();
    return;
  }
  switch (header->attribute) {
    case message::Attribute::kReq:
      return append_message<message::Req>(text, "REQ", mad);
    case message::Attribute::kMra:
      return append_message<message::Mra>(text, "MRA", mad);
    case message::Attribute::kRej:
      return append_message<message::Rej>(text, "REJ", mad);
    case message::Attribute::kRep:
      return append_message<message::Rep>(text, "REP", mad);
    case message::Attribute::kRtu:
      return append_message<message::Rtu>(text, "RTU", mad);
    case message::Attribute::kDreq:
      return append_message<message::Dreq>(text, "DREQ", mad);
    case message::Attribute::kDrep:
      return append_message<message::Drep>(text, "DREP", mad);
    case message::Attribute::kSidrReq:
      return append_message<message::SidrReq>(text, "SIDR_REQ", mad);
    case message::Attribute::kSidrRep:
      return append_message<message::SidrRep>(text, "SIDR_REP", mad);
    case message::Attribute::kLap:
      return append_message<message::Lap>(text, "LAP", mad);
    case message::Attribute::kApr:
      return append_message<message::Apr>(text, "APR", mad);
  }
  append(text, "MAD attribute=0x%04x", static_cast<unsigned>(header->attribute));
}

// --- data packets -------------------------------------------------------------------------------

void append_acknowledge(std::string& text, const roce::Aeth& aeth) {
  static constexpr std::array<const char*, 4> kKinds{"ack", "rnr-nak", "reserved", "nak"};
  append(text, " %s=%u msn=%u", kKinds[static_cast<std::size_t>(aeth.kind)], aeth.value,
         aeth.message_sequence);
}

void append_extended(std::string& text, std::uint16_t headers, FieldReader& fields) {
  if ((headers & roce::kDeth) != 0) {
    const auto deth = roce::Deth::parse(fields.take_bytes(roce::Deth::kBytes).first<8>());
    append(text, " from-qpn=0x%06x", value(deth.source));
  }
  if ((headers & roce::kReth) != 0) {
    const auto rest = fields.take_bytes(roce::Reth::kBytes - 8);
    std::array<std::uint8_t, roce::Reth::kBytes> whole{};
    std::copy(rest.begin(), rest.end(), whole.begin() + 8);
    const auto reth = roce::Reth::parse(whole);
    append(text, " rkey=0x%08x dma-length=%u", reth.remote_key, reth.length);
  }
  if ((headers & roce::kAtomicEth) != 0) {
    text += " atomic=" + hex_text(fields.take_bytes(roce::AtomicEth::kBytes - 8));
  }
  if ((headers & roce::kAeth) != 0) {
    append_acknowledge(text, roce::Aeth::parse(fields.take_bytes(roce::Aeth::kBytes).first<4>()));
  }
  if ((headers & roce::kImmDt) != 0) {
    const auto immediate = roce::ImmDt::parse(fields.take_bytes(roce::ImmDt::kBytes).first<4>());
    append(text, " immediate=0x%08x", immediate.data);
  }
  if ((headers & roce::kAtomicAckEth) != 0) {
    text += " original=" + hex_text(fields.take_bytes(roce::AtomicAckEth::kBytes));
  }
  if ((headers & roce::kIeth) != 0) {
    const auto ieth = roce::Ieth::parse(fields.take_bytes(roce::Ieth::kBytes).first<4>());
    append(text, " invalidate=0x%08x", ieth.remote_key);
  }
}

}  // namespace

void append_packet(std::string& text, FieldReader& fields) {
  static constexpr std::array<const char*, 6> kServices{"RC", "UC", "RD", "UD", "CNP", "XRC"};
  const auto decoded = fields.take<std::uint8_t>();
  if (decoded == kOtherThanRoce) {
    const auto protocol = fields.take<std::uint8_t>();
    const auto fragment = fields.take<std::uint16_t>();
    const auto size = fields.take<std::uint16_t>();
    const auto head = fields.take_bytes(fields.take<std::uint8_t>());
    text += ip_text(protocol, fragment, head, size);
    return;
  }
  if (decoded != static_cast<std::uint8_t>(roce::DecodeError::kNone)) {
    append(text, "%u bytes that are no packet", fields.take<std::uint16_t>());
    return;
  }
  const auto bth =
      roce::Bth::parse(fields.take_bytes(roce::Bth::kBytes).first<roce::Bth::kBytes>());
  const roce::OpcodeRow& row = roce::kOpcodes[bth.opcode];
  if (row.service == roce::Service::kNone) {  // of a recording that nobody here has written
    append(text, "a packet of no known kind: opcode 0x%02x", bth.opcode);
    return;
  }
  std::string extended;
  append_extended(extended, row.headers, fields);
  const auto length = fields.take<std::uint32_t>();
  if (bth.opcode == roce::kUdSendOnly && bth.destination == wire::kGsiQpn) {
    return append_mad(text, fields.take_bytes(length));
  }
  append(text, "%s ", kServices[static_cast<std::size_t>(row.service)]);
  text += row.name;
  append(text, " qpn=0x%06x psn=0x%06x%s", value(bth.destination), bth.psn.value(),
         bth.ack_request ? " ack-request" : "");
  text += extended;
  append(text, " length=%u", length);
}

void append_parameters(std::string& text, FieldReader& fields) {
  std::array<std::uint8_t, 6> small;
  for (std::uint8_t& each : small) each = fields.take<std::uint8_t>();
  const auto qpn = fields.take<std::uint32_t>();
  const auto length = fields.take<std::uint8_t>();
  if (qpn != 0) {
    append(text, " resources=%u depth=%u flow=%u retry=%u rnr=%u srq=%u qpn=0x%06x", small[0],
           small[1], small[2], small[3], small[4], small[5], qpn);
  }
  if (length != 0) append(text, " length=%u", length);
  append_data(text, fields.take_bytes(length));
}

}  // namespace anyrdma::recording
