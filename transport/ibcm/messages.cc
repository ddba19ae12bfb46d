#include "transport/ibcm/messages.h"

#include <algorithm>

namespace anyrdma::ibcm {
namespace {

constexpr std::uint64_t kMadAgent = 2;  // what Linux's first CM port gets (see the captures)
constexpr std::uint16_t kPermissiveLid = 0xffff;
constexpr std::uint16_t kDefaultPartition = 0xffff;

std::uint32_t reverse_bytes(std::uint32_t n) {
  return n >> 24 | (n >> 8 & 0xff00) | (n << 8 & 0xff0000) | n << 24;
}

// On a routed path the LIDs are unknown; RoCE has none.
wire::ReqPath primary_path(const Path& path, std::uint8_t local_ack_timeout) {
  const bool routed = path.hop_limit > 1;
  return {.local_lid = routed ? kPermissiveLid : std::uint16_t{0},
          .remote_lid = routed ? kPermissiveLid : std::uint16_t{0},
          .local_gid = path.source,
          .remote_gid = path.destination,
          .flow_label = path.flow_label,
          .packet_rate = 0,
          .traffic_class = path.traffic_class,
          .hop_limit = path.hop_limit,
          .service_level = 0,
          .subnet_local = routed ? std::uint8_t{0} : std::uint8_t{1},
          .local_ack_timeout = local_ack_timeout};
}

// Which id and which message a REJ names, by the state it is sent from.
void name_the_rejected(wire::Rej& rej, const Connection& connection) {
  switch (connection.state) {
    case State::kReqRcvd:  // the user never learnt of the id
      rej.local_comm_id = CommId{};
      rej.message = wire::AnsweredMessage::kReq;
      return;
    case State::kMraReqSent:
      rej.message = wire::AnsweredMessage::kReq;
      return;
    case State::kRepRcvd:
    case State::kMraRepSent:
      rej.message = wire::AnsweredMessage::kRep;
      return;
    case State::kIdle:
    case State::kListen:
    case State::kReqSent:
    case State::kMraReqRcvd:
    case State::kRepSent:
    case State::kMraRepRcvd:
    case State::kEstablished:
    case State::kDreqSent:
    case State::kDreqRcvd:
    case State::kTimewait:
    case State::kSidrReqSent:
    case State::kSidrReqRcvd:
      rej.message = wire::AnsweredMessage::kOther;
      return;
  }
}

}  // namespace

std::uint64_t own_transaction_id(const Connection& connection) {
  return kMadAgent << 32 | reverse_bytes(value(connection.local_id));
}

wire::Req make_req(const Connection& c, const ReqParameters& parameters,
                   const AgentConfig& config) {
  return {.transaction_id = c.transaction_id,
          .attribute_modifier = parameters.ece.options,
          .local_comm_id = c.local_id,
          .vendor_id = parameters.ece.vendor_id,
          .service_id = parameters.service_id,
          .local_ca_guid = config.ca_guid,
          .local_q_key = 0,
          .local_qpn = parameters.qpn,
          .responder_resources = parameters.responder_resources,
          .local_eecn = 0,
          .initiator_depth = parameters.initiator_depth,
          .remote_eecn = 0,
          .remote_cm_response_timeout = config.profile.cm_response_timeout,
          .transport_service = parameters.transport_service,
          .flow_control = parameters.flow_control,
          .starting_psn = parameters.starting_psn,
          .local_cm_response_timeout = config.profile.cm_response_timeout,
          .retry_count = parameters.retry_count,
          .partition_key = kDefaultPartition,
          .path_mtu = parameters.path.mtu,
          .rdc_exists = 0,
          .rnr_retry_count = parameters.rnr_retry_count,
          .max_cm_retries = config.profile.retries_max,
          .srq = parameters.srq,
          .extended_transport = 0,
          .primary = primary_path(parameters.path, ack_timeout(parameters.local_ca_ack_delay,
                                                               parameters.path.packet_lifetime)),
          .alternate = {},
          .private_data = parameters.private_data};
}

wire::Rep make_rep(const Connection& c, const RepParameters& parameters, Guid ca_guid) {
  return {.transaction_id = c.transaction_id,
          .attribute_modifier = parameters.ece.options,
          .local_comm_id = c.local_id,
          .remote_comm_id = c.remote_id,
          .local_q_key = 0,
          .local_qpn = parameters.qpn,
          .vendor_id = parameters.ece.vendor_id,
          .local_eecn = 0,
          .starting_psn = parameters.starting_psn,
          .responder_resources = parameters.responder_resources,
          .initiator_depth = parameters.initiator_depth,
          .target_ack_delay = parameters.target_ack_delay,
          .failover_accepted = 0,
          .flow_control = parameters.flow_control,
          .rnr_retry_count = parameters.rnr_retry_count,
          .srq = parameters.srq,
          .local_ca_guid = ca_guid,
          .private_data = parameters.private_data};
}

wire::Rtu make_rtu(const Connection& c) {
  return {.transaction_id = c.transaction_id,
          .local_comm_id = c.local_id,
          .remote_comm_id = c.remote_id,
          .private_data = {}};
}

wire::Mra make_mra(const Connection& c, wire::AnsweredMessage message,
                   std::uint8_t service_timeout) {
  return {.transaction_id = c.transaction_id,
          .local_comm_id = c.local_id,
          .remote_comm_id = c.remote_id,
          .message = message,
          .service_timeout = service_timeout,
          .private_data = {}};
}

wire::Rej make_rej(const Connection& c, std::uint16_t reason) {
  wire::Rej rej{.transaction_id = c.transaction_id,
                .local_comm_id = c.local_id,
                .remote_comm_id = c.remote_id,
                .message = wire::AnsweredMessage::kOther,
                .reason = reason,
                .info = {},
                .private_data = {}};
  name_the_rejected(rej, c);
  return rej;
}

wire::Dreq make_dreq(const Connection& c) {
  return {.transaction_id = own_transaction_id(c),
          .local_comm_id = c.local_id,
          .remote_comm_id = c.remote_id,
          .remote_qpn = c.remote_qpn,
          .private_data = {}};
}

wire::Drep make_drep(const Connection& c) {
  return {.transaction_id = c.transaction_id,
          .local_comm_id = c.local_id,
          .remote_comm_id = c.remote_id,
          .private_data = {}};
}

wire::SidrReq make_sidr_req(const Connection& c, const SidrReqParameters& parameters) {
  return {.transaction_id = c.transaction_id,
          .request_id = c.local_id,
          .partition_key = kDefaultPartition,
          .service_id = parameters.service_id,
          .private_data = parameters.private_data};
}

wire::SidrRep make_sidr_rep(const Connection& c, const SidrRepParameters& parameters) {
  return {.transaction_id = c.transaction_id,
          .attribute_modifier = parameters.ece.options,
          .request_id = c.remote_id,
          .status = parameters.status,
          .vendor_id = parameters.ece.vendor_id,
          .qpn = parameters.qpn,
          .service_id = c.service_id,
          .q_key = parameters.qkey,
          .info = {},
          .private_data = parameters.private_data};
}

wire::Rej make_stateless_rej(const wire::Req& req, std::uint16_t reason) {
  return {.transaction_id = req.transaction_id,
          .local_comm_id = CommId{},
          .remote_comm_id = req.local_comm_id,
          .message = wire::AnsweredMessage::kReq,
          .reason = reason,
          .info = {},
          .private_data = {}};
}

wire::Rej make_stateless_rej(const wire::Rep& rep, std::uint16_t reason) {
  return {.transaction_id = rep.transaction_id,
          .local_comm_id = rep.remote_comm_id,
          .remote_comm_id = rep.local_comm_id,
          .message = wire::AnsweredMessage::kRep,
          .reason = reason,
          .info = {},
          .private_data = {}};
}

wire::Drep make_stateless_drep(const wire::Dreq& dreq) {
  return {.transaction_id = dreq.transaction_id,
          .local_comm_id = dreq.remote_comm_id,
          .remote_comm_id = dreq.local_comm_id,
          .private_data = {}};
}

wire::SidrRep make_stateless_sidr_rep(const wire::SidrReq& request, std::uint8_t status) {
  return {.transaction_id = request.transaction_id,
          .attribute_modifier = 0,
          .request_id = request.request_id,
          .status = status,
          .vendor_id = 0,
          .qpn = {},
          .service_id = request.service_id,
          .q_key = 0,
          .info = {},
          .private_data = {}};
}

ReqParameters parameters_of(const wire::Req& req, const Path& from) {
  const std::uint8_t timeout = req.primary.local_ack_timeout;
  return {.service_id = req.service_id,
          .path = {.source = req.primary.remote_gid,
                   .destination = req.primary.local_gid,
                   .flow_label = req.primary.flow_label,
                   .traffic_class = req.primary.traffic_class,
                   .hop_limit = from.hop_limit,
                   .mtu = req.path_mtu,
                   .packet_lifetime = static_cast<std::uint8_t>(timeout - (timeout > 0))},
          .qpn = req.local_qpn,
          .starting_psn = req.starting_psn,
          .responder_resources = req.responder_resources,
          .initiator_depth = req.initiator_depth,
          .retry_count = req.retry_count,
          .rnr_retry_count = req.rnr_retry_count,
          .flow_control = req.flow_control,
          .srq = req.srq,
          .transport_service = req.transport_service,
          .local_ca_ack_delay = 0,
          .ece = {req.vendor_id, req.attribute_modifier},
          .private_data = req.private_data};
}

RepParameters parameters_of(const wire::Rep& rep) {
  return {.qpn = rep.local_qpn,
          .starting_psn = rep.starting_psn,
          .responder_resources = rep.responder_resources,
          .initiator_depth = rep.initiator_depth,
          .flow_control = rep.flow_control,
          .rnr_retry_count = rep.rnr_retry_count,
          .srq = rep.srq,
          .target_ack_delay = rep.target_ack_delay,
          .ece = {rep.vendor_id, rep.attribute_modifier},
          .private_data = rep.private_data};
}

SidrRepParameters parameters_of(const wire::SidrRep& reply) {
  return {.status = reply.status,
          .qpn = reply.qpn,
          .qkey = reply.q_key,
          .ece = {reply.vendor_id, reply.attribute_modifier},
          .private_data = reply.private_data};
}

std::array<std::uint8_t, 8> bytes_of(Guid guid) {
  std::array<std::uint8_t, 8> bytes{};
  anyrdma::wire::put<anyrdma::wire::Field{0, 0, 64}>(bytes.data(), value(guid));
  return bytes;
}

Guid guid_of(std::span<const std::uint8_t> bytes) {
  std::array<std::uint8_t, 8> padded{};
  std::ranges::copy(bytes.first(std::min(bytes.size(), padded.size())), padded.begin());
  return Guid{anyrdma::wire::get<anyrdma::wire::Field{0, 0, 64}>(padded.data())};
}

}  // namespace anyrdma::ibcm
