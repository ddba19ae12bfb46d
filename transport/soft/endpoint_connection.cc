// The CM protocol of an endpoint: commands to the agent, with the limits that the kernel's cma.c
// adds.
#include <algorithm>
#include <array>
#include <cerrno>

#include "transport/soft/endpoint.h"

namespace anyrdma::transport::soft {
namespace {

constexpr std::size_t kReqDataMax = 92;
constexpr std::size_t kUserReqDataMax = kReqDataMax - CmaHeader::kSize;  // 56
constexpr std::uint8_t kTransportRc = 0;  // transport service type of a REQ
constexpr std::uint8_t kTransportUc = 1;

}  // namespace

// Datagram services (SIDR) are not offered yet.
Result<void> SoftEndpoint::check_connected_service(ibv_qp_type type) const {
  if (type_ == IBV_QPT_UD) return verbs::errno_code(EOPNOTSUPP);
  if (type == IBV_QPT_UD) return verbs::errno_code(EOPNOTSUPP);
  if (type != IBV_QPT_RC && type != IBV_QPT_UC) return verbs::errno_code(EINVAL);
  return {};
}

Result<void> SoftEndpoint::check_connection() const {
  if (stage_ == Stage::kRemoved) return verbs::errno_code(ENXIO);
  if (!comm_id_) return verbs::errno_code(EINVAL);
  return {};
}

Result<void> SoftEndpoint::connect(const ConnectionParameters& parameters) {
  if (stage_ == Stage::kRemoved) return verbs::errno_code(ENXIO);
  if (Result<void> offered = check_connected_service(parameters.qp_type); !offered) return offered;
  if (stage_ != Stage::kRouted) return verbs::errno_code(EINVAL);
  if (parameters.private_data.size() > kUserReqDataMax) return verbs::errno_code(EINVAL);
  std::array<std::uint8_t, kReqDataMax> data{};
  const std::span<std::uint8_t, CmaHeader::kSize> header(data.data(), CmaHeader::kSize);
  CmaHeader{source_, destination_}.serialize(header);
  std::ranges::copy(parameters.private_data, data.begin() + CmaHeader::kSize);
  const ibcm::ReqParameters request{
      .service_id = service_id(destination_.port),
      .path = path_,
      .qpn = wire::Qpn{parameters.qp_num},
      .starting_psn = psn_,
      .responder_resources = parameters.responder_resources,
      .initiator_depth = parameters.initiator_depth,
      .retry_count = parameters.retry_count,
      .rnr_retry_count = parameters.rnr_retry_count,
      .flow_control = parameters.flow_control,
      .srq = parameters.srq,
      .transport_service = parameters.qp_type == IBV_QPT_UC ? kTransportUc : kTransportRc,
      .local_ca_ack_delay = device_->hca.config().local_ca_ack_delay,
      .private_data = data};
  const Result<wire::CommId> id = device_->agent->connect(core_.runtime.now(), request);
  if (!id) return id.error();
  comm_id_ = *id;
  device_->connections.emplace(wire::value(*id), this);
  stage_ = Stage::kConnection;
  return {};
}

// Whatever goes wrong, the peer hears a rejection (kernel: rdma_accept).
Result<void> SoftEndpoint::accept(const ConnectionParameters& parameters) {
  if (Result<void> live = check_connection(); !live) return live;
  Result<void> sent = send_reply(parameters);
  if (!sent) (void)reject(ibcm::kRejConsumerDefined, {}).has_value();
  return sent;
}

Result<void> SoftEndpoint::send_reply(const ConnectionParameters& parameters) {
  if (Result<void> offered = check_connected_service(parameters.qp_type); !offered) return offered;
  const ibcm::RepParameters reply{.qpn = wire::Qpn{parameters.qp_num},
                                  .starting_psn = psn_,
                                  .responder_resources = parameters.responder_resources,
                                  .initiator_depth = parameters.initiator_depth,
                                  .flow_control = parameters.flow_control,
                                  .rnr_retry_count = parameters.rnr_retry_count,
                                  .srq = parameters.srq,
                                  .target_ack_delay = device_->hca.config().local_ca_ack_delay,
                                  .private_data = parameters.private_data};
  return device_->agent->send_rep(core_.runtime.now(), *comm_id_, reply);
}

// A handshake that cannot be completed is aborted (kernel: cma_rep_recv).
Result<void> SoftEndpoint::establish() {
  if (Result<void> live = check_connection(); !live) return live;
  Result<void> sent = device_->agent->send_rtu(core_.runtime.now(), *comm_id_);
  if (!sent) (void)reject(ibcm::kRejConsumerDefined, {}).has_value();
  return sent;
}

Result<void> SoftEndpoint::reject(std::uint8_t reason, std::span<const std::uint8_t> private_data) {
  if (Result<void> live = check_connection(); !live) return live;
  return device_->agent->send_rej(core_.runtime.now(), *comm_id_, reason, private_data);
}

// That neither message can be sent is not an error (kernel: rdma_disconnect).
Result<void> SoftEndpoint::disconnect() {
  if (Result<void> live = check_connection(); !live) return live;
  const Instant now = core_.runtime.now();
  if (device_->agent->send_dreq(now, *comm_id_)) return {};
  (void)device_->agent->send_drep(now, *comm_id_).has_value();
  return {};
}

Result<void> SoftEndpoint::notify(ibv_event_type event) {
  if (Result<void> live = check_connection(); !live) return live;
  if (event != IBV_EVENT_COMM_EST) return verbs::errno_code(EINVAL);
  return device_->agent->notify_established(core_.runtime.now(), *comm_id_);
}

}  // namespace anyrdma::transport::soft
