#include "verbs/testing/datagram_member.h"

#include <algorithm>

#include "verbs/assert.h"

namespace anyrdma::verbs::testing {

DatagramMember::DatagramMember(Provider& provider, ibv_device* device, std::uint32_t gid_index)
    : provider_(provider),
      gid_index_(gid_index),
      context_(Context::open(provider, device).value()),
      pd_(ProtectionDomain::create(context_.get()).value()),
      cq_(CompletionQueue::create(context_.get(), 100).value()),
      received_into_(
          MemoryRegion::create(pd_.get(), buffer_.data(), buffer_.size(), IBV_ACCESS_LOCAL_WRITE)
              .value()),
      sent_from_(MemoryRegion::create(pd_.get(), message_.data(), message_.size(), 0).value()) {
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq_.get();
  init.cap = {kReceives, kReceives, 1, 1, 0};
  init.qp_type = IBV_QPT_UD;
  qp_ = QueuePair::create(pd_.get(), &init).value();
  to_rts();
  for (unsigned i = 0; i < kReceives; ++i) {
    ibv_sge piece = received_into_.piece(0, static_cast<std::uint32_t>(buffer_.size()));
    ibv_recv_wr request{};
    request.sg_list = &piece;
    request.num_sge = 1;
    qp_.post_recv(&request).value();
  }
}

DatagramMember::~DatagramMember() {
  for (const ibv_gid& group : groups_) provider_.detach_mcast(qp_.get(), group, 0).value();
}

void DatagramMember::to_rts() {
  ibv_qp_attr attr{};
  attr.port_num = 1;
  attr.qkey = kQueueKey;
  attr.qp_state = IBV_QPS_INIT;
  qp_.modify(&attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY).value();
  attr.qp_state = IBV_QPS_RTR;
  qp_.modify(&attr, IBV_QP_STATE).value();
  attr.qp_state = IBV_QPS_RTS;
  qp_.modify(&attr, IBV_QP_STATE | IBV_QP_SQ_PSN).value();
}

void DatagramMember::attach(const ibv_gid& group) {
  provider_.attach_mcast(qp_.get(), group, 0).value();
  groups_.push_back(group);
}

void DatagramMember::send(const ibv_gid& to, std::uint32_t qpn, char letter) {
  std::fill(message_.begin(), message_.end(), letter);
  ibv_ah_attr path{};
  path.is_global = 1;
  path.port_num = 1;
  path.grh.sgid_index = static_cast<std::uint8_t>(gid_index_);
  path.grh.dgid = to;
  ibv_ah* ah = provider_.create_ah(pd_.get(), path).value();
  ibv_sge piece = sent_from_.piece(0, kMessageBytes);
  ibv_send_wr request{};
  request.sg_list = &piece;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.wr.ud.ah = ah;
  request.wr.ud.remote_qpn = qpn;
  request.wr.ud.remote_qkey = kQueueKey;
  qp_.post_send(&request).value();
  provider_.destroy_ah(ah).value();
}

std::size_t DatagramMember::received() {
  ibv_wc completion{};
  while (cq_.poll({&completion, 1}).value() == 1) {
    CM_ASSERT(completion.status == IBV_WC_SUCCESS);
    CM_ASSERT(completion.byte_len == sizeof(ibv_grh) + kMessageBytes);
    ++received_;
  }
  return received_;
}

}  // namespace anyrdma::verbs::testing
