#include "cm/conn_param.h"

#include <algorithm>

namespace anyrdma::cm {
namespace {

constexpr std::uint8_t kRetriesMax = 7;  // three bits on the wire
constexpr std::uint32_t kQpnMask = 0xffffff;

bool exceeds(std::uint8_t asked, std::uint8_t limit) {
  static_assert(RDMA_MAX_RESP_RES == 0xff && RDMA_MAX_INIT_DEPTH == 0xff);
  return asked != RDMA_MAX_RESP_RES && asked > limit;
}

transport::ConnectionParameters with_depths(const rdma_conn_param* param, Depths ceiling) {
  transport::ConnectionParameters result;
  result.responder_resources = ceiling.responder_resources;
  result.initiator_depth = ceiling.initiator_depth;
  if (param == nullptr) return result;
  if (param->responder_resources != RDMA_MAX_RESP_RES) {
    result.responder_resources = param->responder_resources;
  }
  if (param->initiator_depth != RDMA_MAX_INIT_DEPTH) {
    result.initiator_depth = param->initiator_depth;
  }
  result.flow_control = param->flow_control;
  result.retry_count = std::min(param->retry_count, kRetriesMax);
  result.rnr_retry_count = std::min(param->rnr_retry_count, kRetriesMax);
  result.srq = param->srq;
  result.qp_num = param->qp_num & kQpnMask;
  if (param->private_data != nullptr) {
    result.private_data = {static_cast<const std::uint8_t*>(param->private_data),
                           param->private_data_len};
  }
  return result;
}

}  // namespace

Result<void> check_conn_param(const rdma_conn_param* param, rdma_port_space space, bool has_qp,
                              Depths device) {
  if (space != RDMA_PS_TCP) return {};
  if (param == nullptr) {
    if (!has_qp) return verbs::errno_code(EINVAL);
    return {};
  }
  if (exceeds(param->responder_resources, device.responder_resources) ||
      exceeds(param->initiator_depth, device.initiator_depth)) {
    return verbs::errno_code(EINVAL);
  }
  return {};
}

transport::ConnectionParameters parameters_for_connect(const rdma_conn_param* param,
                                                       Depths device) {
  return with_depths(param, device);
}

transport::ConnectionParameters parameters_for_accept(const rdma_conn_param* param, Depths device,
                                                      Depths requested) {
  return with_depths(param, {std::min(requested.responder_resources, device.responder_resources),
                             std::min(requested.initiator_depth, device.initiator_depth)});
}

}  // namespace anyrdma::cm
