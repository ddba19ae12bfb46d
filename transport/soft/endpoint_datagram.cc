// The datagram services: SIDR_REQ and SIDR_REP in the place of a handshake (kernel:
// cma_resolve_ib_udp, cma_send_sidr_rep).
#include <algorithm>
#include <array>
#include <cerrno>

#include "transport/soft/address_vector.h"
#include "transport/soft/endpoint.h"

namespace anyrdma::transport::soft {
namespace {

constexpr std::size_t kSidrReqDataMax = 216;
constexpr std::size_t kUserSidrReqDataMax = kSidrReqDataMax - CmaHeader::kSize;  // 180

}  // namespace

Result<wire::CommId> SoftEndpoint::send_question(const ConnectionParameters& parameters) {
  if (parameters.private_data.size() > kUserSidrReqDataMax) return verbs::errno_code(EINVAL);
  std::array<std::uint8_t, kSidrReqDataMax> data{};
  CmaHeader{source_, destination_}.serialize(std::span(data).first<CmaHeader::kSize>());
  std::ranges::copy(parameters.private_data, data.begin() + CmaHeader::kSize);
  return device_->agent->send_sidr_req(
      core_.runtime.now(),
      {.service_id = service_id(destination_.port), .path = path_, .private_data = data});
}

Result<void> SoftEndpoint::send_answer(const ConnectionParameters& parameters) {
  if (Result<void> chosen = choose_qkey(); !chosen) return chosen;
  return device_->agent->send_sidr_rep(core_.runtime.now(), *comm_id_,
                                       {.status = ibcm::kSidrSuccess,
                                        .qpn = wire::Qpn{parameters.qp_num},
                                        .qkey = datagram_->qkey,
                                        .ece = {parameters.ece.vendor_id, parameters.ece.options},
                                        .private_data = parameters.private_data});
}

// RDMA_PS_IPOIB takes the QKey of the IPoIB broadcast group, and RoCE has no such group
// (kernel: cma_set_default_qkey).
Result<void> SoftEndpoint::choose_qkey() {
  if (space_ == RDMA_PS_IPOIB) return verbs::errno_code(ENODEV);
  if (datagram_->qkey == 0) datagram_->qkey = RDMA_UDP_QKEY;
  return {};
}

/// False when it is none, or another than the one chosen before (kernel: cma_set_qkey).
bool SoftEndpoint::agree_on_qkey(std::uint32_t qkey) {
  if (qkey == 0 || (datagram_->qkey != 0 && datagram_->qkey != qkey)) return false;
  datagram_->qkey = qkey;
  return true;
}

// Kernel: cma_sidr_rep_handler.
void SoftEndpoint::on_resolved(const ibcm::SidrRepParameters& reply) {
  rdma_ud_param peer{};
  EndpointEvent event{.type = RDMA_CM_EVENT_UNREACHABLE,
                      .status = reply.status,
                      .private_data = reply.private_data,
                      .ud = &peer};
  if (reply.status == ibcm::kSidrSuccess) {
    const int gid_index = device_->index_of(path_.source);
    if (gid_index >= 0 && agree_on_qkey(reply.qkey)) {
      event.type = RDMA_CM_EVENT_ESTABLISHED;
      peer.ah_attr = address_vector(path_, gid_index, device_->port);
      peer.qp_num = wire::value(reply.qpn);
      peer.qkey = reply.qkey;
    } else {
      event.type = RDMA_CM_EVENT_ADDR_ERROR;
      event.status = -EINVAL;
    }
  }
  raise(event);
}

}  // namespace anyrdma::transport::soft
