// A queue pair of type RC brought up by hand, whoever it belongs to.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace anyrdma::bench {

/// All that a reliable connection is told of its peer, for connect_by_hand; to be changed where a
/// benchmark wants something else.
inline ibv_qp_attr connection_to(std::uint32_t qp_num, const ibv_gid& gid) {
  ibv_qp_attr attr{};
  attr.port_num = 1;
  attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  attr.path_mtu = IBV_MTU_4096;
  attr.dest_qp_num = qp_num;
  attr.max_dest_rd_atomic = attr.max_rd_atomic = 16;
  attr.ah_attr.is_global = 1;
  attr.ah_attr.port_num = 1;
  attr.ah_attr.grh.dgid = gid;
  attr.timeout = 14;
  attr.retry_cnt = attr.rnr_retry = 7;
  return attr;
}

/// From RESET to RTS. `modify` takes attributes and their mask, as ibv_modify_qp does.
template <typename Modify>
void connect_by_hand(ibv_qp_attr attr, const Modify& modify) {
  const auto go_to = [&](ibv_qp_state state, int mask) {
    attr.qp_state = state;
    modify(&attr, mask | IBV_QP_STATE);
  };
  go_to(IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  go_to(IBV_QPS_RTR, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                         IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  go_to(IBV_QPS_RTS, IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                         IBV_QP_MAX_QP_RD_ATOMIC);
}

}  // namespace anyrdma::bench
