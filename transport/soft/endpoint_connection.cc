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

Result<void> SoftEndpoint::connect(const ConnectionParameters& parameters) {
  if (Result<void> legal = admits(Call::kConnect); !legal) return legal;
  // The address handle to the peer needs it (kernel: cm_init_av_by_path).
  if (device_->index_of(path_.source) < 0) return verbs::errno_code(EINVAL);
  const Result<wire::CommId> id = datagram_ ? send_question(parameters) : send_request(parameters);
  if (!id) return id.error();
  comm_id_ = *id;
  device_->connections.emplace(wire::value(*id), this);
  enter(State::kConnect);
  return {};
}

Result<wire::CommId> SoftEndpoint::send_request(const ConnectionParameters& parameters) {
  const ibv_qp_type type = parameters.qp_type;
  if (type != IBV_QPT_RC && type != IBV_QPT_UC) return verbs::errno_code(EINVAL);
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
      .srq = static_cast<std::uint8_t>(parameters.srq != 0),  // kernel: cma_connect_ib
      .transport_service = type == IBV_QPT_UC ? kTransportUc : kTransportRc,
      .local_ca_ack_delay = device_->hca.config().local_ca_ack_delay,
      .ece = {parameters.ece.vendor_id, parameters.ece.options},
      .private_data = data};
  return device_->agent->connect(core_.runtime.now(), request);
}

// Whatever goes wrong, the peer hears a rejection (kernel: rdma_accept).
Result<void> SoftEndpoint::accept(const ConnectionParameters& parameters) {
  if (Result<void> legal = admits(Call::kAccept); !legal) return legal;
  Result<void> sent = datagram_ ? send_answer(parameters) : send_reply(parameters);
  if (sent) reports_events_ = true;
  if (!sent) (void)reject(ibcm::kRejConsumerDefined, {}).has_value();
  return sent;
}

Result<void> SoftEndpoint::send_reply(const ConnectionParameters& parameters) {
  const ibcm::RepParameters reply{.qpn = wire::Qpn{parameters.qp_num},
                                  .starting_psn = psn_,
                                  .responder_resources = parameters.responder_resources,
                                  .initiator_depth = parameters.initiator_depth,
                                  .flow_control = parameters.flow_control,
                                  .rnr_retry_count = parameters.rnr_retry_count,
                                  .srq = static_cast<std::uint8_t>(parameters.srq != 0),
                                  .target_ack_delay = device_->hca.config().local_ca_ack_delay,
                                  .ece = {parameters.ece.vendor_id, parameters.ece.options},
                                  .private_data = parameters.private_data};
  return device_->agent->send_rep(core_.runtime.now(), *comm_id_, reply);
}

// A handshake that cannot be completed is aborted (kernel: cma_rep_recv). Accepting a datagram
// service's request without parameters rejects it (kernel: rdma_accept).
Result<void> SoftEndpoint::establish() {
  if (Result<void> legal = admits(Call::kEstablish); !legal) return legal;
  if (datagram_) return reject(ibcm::kRejConsumerDefined, {});
  Result<void> sent = device_->agent->send_rtu(core_.runtime.now(), *comm_id_);
  if (!sent) (void)reject(ibcm::kRejConsumerDefined, {}).has_value();
  return sent;
}

Result<void> SoftEndpoint::reject(std::uint8_t reason, std::span<const std::uint8_t> private_data) {
  if (Result<void> legal = admits(Call::kReject); !legal) return legal;
  if (!comm_id_) return verbs::errno_code(EINVAL);  // a listener's
  const Instant now = core_.runtime.now();
  if (!datagram_) return device_->agent->send_rej(now, *comm_id_, reason, private_data);
  return device_->agent->send_sidr_rep(now, *comm_id_,
                                       {.status = ibcm::kSidrReject, .private_data = private_data});
}

// That neither message can be sent is not an error, and a listener's CM id never sends one (kernel:
// rdma_disconnect).
Result<void> SoftEndpoint::disconnect() {
  if (Result<void> legal = admits(Call::kDisconnect); !legal || !comm_id_) return legal;
  const Instant now = core_.runtime.now();
  if (device_->agent->send_dreq(now, *comm_id_)) return {};
  (void)device_->agent->send_drep(now, *comm_id_).has_value();
  return {};
}

Result<void> SoftEndpoint::notify(ibv_event_type event) {
  if (Result<void> legal = admits(Call::kNotify); !legal) return legal;
  if (!comm_id_) return verbs::errno_code(EINVAL);  // a listener's
  if (event == IBV_EVENT_PATH_MIG) {  // no alternate path is ever loaded, so that is all of it
    const std::optional<ibcm::ConnectionInfo> info = device_->agent->info(*comm_id_);
    const bool established = info && info->state == ibcm::State::kEstablished;
    return established ? Result<void>{} : verbs::errno_code(EINVAL);
  }
  if (event != IBV_EVENT_COMM_EST) return verbs::errno_code(EINVAL);
  return device_->agent->notify_established(core_.runtime.now(), *comm_id_);
}

}  // namespace anyrdma::transport::soft
