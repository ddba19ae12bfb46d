// The fields of CM messages.
#include <sys/socket.h>

#include <array>
#include <stdexcept>
#include <string>

#include "tests/wire/fields.h"
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

namespace anyrdma::tests {
namespace {

namespace cm = ibcm::wire;
using transport::soft::CmaHeader;

void add_path(Fields& fields, const std::string& prefix, const cm::ReqPath& path) {
  const auto add = [&](const char* name, std::uint64_t value) {
    fields.number(prefix + name, value);
  };
  add("locallid", path.local_lid);
  add("remotelid", path.remote_lid);
  fields.bytes(prefix + "localgid", path.local_gid);
  fields.bytes(prefix + "remotegid", path.remote_gid);
  add("flowlabel", path.flow_label);
  add("tfcclass", path.traffic_class);
  add("hoplim", path.hop_limit);
  add("sl", path.service_level);
  add("subnetlocal", path.subnet_local);
  add("localacktout", path.local_ack_timeout);
}

/// Wireshark knows the header in front of the private data by the service id.
void add_private_data(Fields& fields, const cm::Req& req) {
  constexpr std::uint64_t kIpServices = 0x1000000;
  if (value(req.service_id) >> 24 != kIpServices >> 24) {
    fields.bytes(".cm.req.private", req.private_data);
    return;
  }
  const auto header = CmaHeader::parse(req.private_data);
  if (!header) throw std::runtime_error("a REQ's IP header is refused");
  const bool v4 = header->source.family == AF_INET;
  const std::string version = v4 ? "4" : "6";
  const std::size_t skip = v4 ? 12 : 0;
  fields.number(".cm.req.ip_cm.ipv", v4 ? 4 : 6);
  fields.number(".cm.req.ip_cm.sport", header->source.port);
  fields.bytes(".cm.req.ip_cm.sip" + version, std::span(header->source.ip).subspan(skip));
  fields.bytes(".cm.req.ip_cm.dip" + version, std::span(header->destination.ip).subspan(skip));
  fields.bytes(".cm.req.ip_cm.private", req.private_data.subspan(CmaHeader::kSize));
}

void add(Fields& fields, const cm::Req& req) {
  fields.number(".cm.req", value(req.local_comm_id));
  fields.number(".cm.req.serviceid", value(req.service_id));
  fields.number(".cm.req.localcaguid", value(req.local_ca_guid));
  fields.number(".cm.req.localqkey", req.local_q_key);
  fields.number(".cm.req.localqpn", value(req.local_qpn));
  fields.number(".cm.req.responderres", req.responder_resources);
  fields.number(".cm.req.localeecn", req.local_eecn);
  fields.number(".cm.req.initdepth", req.initiator_depth);
  fields.number(".cm.req.remoteeecn", req.remote_eecn);
  fields.number(".cm.req.remoteresptout", req.remote_cm_response_timeout);
  fields.number(".cm.req.transpsvctype", req.transport_service);
  fields.number(".cm.req.e2eflowctrl", req.flow_control);
  fields.number(".cm.req.startpsn", req.starting_psn.value());
  fields.number(".cm.req.localresptout", req.local_cm_response_timeout);
  fields.number(".cm.req.retrcount", req.retry_count);
  fields.number(".cm.req.pkey", req.partition_key);
  fields.number(".cm.req.pppmtu", req.path_mtu);
  fields.number(".cm.req.rdcexist", req.rdc_exists);
  fields.number(".cm.req.rnrretrcount", req.rnr_retry_count);
  fields.number(".cm.req.maxcmretr", req.max_cm_retries);
  fields.number(".cm.req.srq", req.srq);
  fields.number(".cm.req.ext_transport", req.extended_transport);
  add_path(fields, ".cm.req.prim_", req.primary);
  add_path(fields, ".cm.req.alt_", req.alternate);
  add_private_data(fields, req);
}

void add(Fields& fields, const cm::Rep& rep) {
  fields.number(".cm.rep", value(rep.local_comm_id));
  fields.number(".cm.rep.remotecommid", value(rep.remote_comm_id));
  fields.number(".cm.rep.localqkey", rep.local_q_key);
  fields.number(".cm.rep.localqpn", value(rep.local_qpn));
  fields.number(".cm.rep.localeecn", rep.local_eecn);
  fields.number(".cm.rep.startpsn", rep.starting_psn.value());
  fields.number(".cm.rep.respres", rep.responder_resources);
  fields.number(".cm.rep.initdepth", rep.initiator_depth);
  fields.number(".cm.rep.tgtackdelay", rep.target_ack_delay);
  fields.number(".cm.rep.failoveracc", rep.failover_accepted);
  fields.number(".cm.rep.e2eflowctrl", rep.flow_control);
  fields.number(".cm.rep.rnrretrcount", rep.rnr_retry_count);
  fields.number(".cm.rep.srq", rep.srq);
  fields.number(".cm.rep.localcaguid", value(rep.local_ca_guid));
  fields.bytes(".cm.rep.private", rep.private_data);
}

template <class Message>
void add_pair(Fields& fields, const std::string& prefix, const Message& message) {
  fields.number(prefix + "localcommid", value(message.local_comm_id));
  fields.number(prefix + "remotecommid", value(message.remote_comm_id));
  fields.bytes(prefix + "private", message.private_data);
}

void add(Fields& fields, const cm::Rtu& rtu) {
  add_pair(fields, ".cm.rtu.", rtu);
}

void add(Fields& fields, const cm::Rej& rej) {
  add_pair(fields, ".cm.rej.", rej);
  fields.number(".cm.rej.msgrej", static_cast<unsigned>(rej.message));
  fields.number(".cm.rej.rejinfolen", rej.info.size());
  fields.number(".cm.rej.reason", rej.reason);
}

void add(Fields& fields, const cm::Dreq& dreq) {
  add_pair(fields, ".cm.dreq.", dreq);
  fields.number(".cm.req.remoteqpneecn", value(dreq.remote_qpn));  // Wireshark's name for it
}

void add(Fields& fields, const cm::Drep& drep) {
  add_pair(fields, ".cm.drsp.", drep);
}

/// Wireshark shows the others as bytes only.
template <class Message>
void add(Fields& fields, const Message& message) {
  std::array<std::uint8_t, cm::kMadSize> mad;
  message.serialize(mad);
  fields.bytes(".mad.data", std::span(mad).subspan(cm::kMadHeaderSize));
}

template <class Message>
void parse_and_add(Fields& fields, cm::MadView mad) {
  add(fields, Message::parse(mad).value());
}

}  // namespace

void add_message(Fields& fields, std::span<const std::uint8_t> bytes) {
  const cm::MadView mad = cm::as_mad(bytes).value();
  const cm::MadHeader header = cm::MadHeader::parse(mad).value();
  fields.number(".mad.transactionid", header.transaction_id);
  fields.number(".mad.attributeid", static_cast<unsigned>(header.attribute));
  fields.number(".mad.attributemodifier", header.attribute_modifier);
  switch (header.attribute) {
    case cm::Attribute::kReq:
      return parse_and_add<cm::Req>(fields, mad);
    case cm::Attribute::kMra:
      return parse_and_add<cm::Mra>(fields, mad);
    case cm::Attribute::kRej:
      return parse_and_add<cm::Rej>(fields, mad);
    case cm::Attribute::kRep:
      return parse_and_add<cm::Rep>(fields, mad);
    case cm::Attribute::kRtu:
      return parse_and_add<cm::Rtu>(fields, mad);
    case cm::Attribute::kDreq:
      return parse_and_add<cm::Dreq>(fields, mad);
    case cm::Attribute::kDrep:
      return parse_and_add<cm::Drep>(fields, mad);
    case cm::Attribute::kSidrReq:
      return parse_and_add<cm::SidrReq>(fields, mad);
    case cm::Attribute::kSidrRep:
      return parse_and_add<cm::SidrRep>(fields, mad);
    case cm::Attribute::kLap:
      return parse_and_add<cm::Lap>(fields, mad);
    case cm::Attribute::kApr:
      return parse_and_add<cm::Apr>(fields, mad);
  }
}

}  // namespace anyrdma::tests
