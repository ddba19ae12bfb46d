#include "verbs/soft/testing/datagram_pair.h"

namespace anyrdma::verbs::soft::testing {

ConnectionOptions DatagramPair::datagram_options() {
  return {.mtu = IBV_MTU_4096, .type = IBV_QPT_UD};
}

DatagramPair::DatagramPair() {
  for (Side* side : {&a, &b}) side->qp = make_qp(*side);
  const ibv_ah_attr path = path_to(b.gid);
  to_b = a.hca->create_ah(a.pd, path).value();
}

DatagramPair::~DatagramPair() {
  a.hca->destroy_ah(to_b).value();
}

ibv_ah_attr DatagramPair::path_to(const ibv_gid& gid) {
  ibv_ah_attr path{};
  path.is_global = 1;
  path.port_num = 1;
  path.grh.sgid_index = 1;
  path.grh.dgid = gid;
  return path;
}

ibv_qp* DatagramPair::make_qp(Side& side, std::uint32_t queue_key, ibv_srq* srq) {
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = side.cq;
  init.srq = srq;
  init.cap = datagram_options().cap;
  init.qp_type = IBV_QPT_UD;
  ibv_qp* qp = side.hca->create_qp(side.pd, &init).value();
  to_rts(side, qp, queue_key);
  return qp;
}

void DatagramPair::to_rts(Side& side, ibv_qp* qp, std::uint32_t queue_key) {
  ibv_qp_attr attr{};
  attr.port_num = 1;
  attr.qkey = queue_key;
  attr.sq_psn = 0xffffff;  // wraps around soon
  attr.qp_state = IBV_QPS_INIT;
  constexpr int kInit = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
  side.hca->modify_qp(qp, &attr, kInit).value();
  attr.qp_state = IBV_QPS_RTR;
  side.hca->modify_qp(qp, &attr, IBV_QP_STATE).value();
  attr.qp_state = IBV_QPS_RTS;
  side.hca->modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN).value();
}

int DatagramPair::send(std::uint64_t id, std::uint32_t length, const DatagramOptions& options) {
  ibv_sge sge = a.piece(0, length);
  ibv_send_wr request{};
  request.wr_id = id;
  request.sg_list = &sge;
  request.num_sge = 1;
  request.opcode = options.opcode;
  request.send_flags = options.flags;
  request.imm_data = htobe32(0x12345678);
  request.wr.ud.ah = options.ah != nullptr ? options.ah : to_b;
  request.wr.ud.remote_qpn = options.qpn != 0 ? options.qpn : b.qp->qp_num;
  request.wr.ud.remote_qkey = options.queue_key;
  ibv_send_wr* bad = nullptr;
  return ibv_post_send(a.qp, &request, &bad);
}

ibv_wc DatagramPair::only_completion(Side& side) {
  const std::vector<ibv_wc> all = side.poll();
  EXPECT_EQ(all.size(), 1u);
  return all.empty() ? ibv_wc{} : all.front();
}

}  // namespace anyrdma::verbs::soft::testing
