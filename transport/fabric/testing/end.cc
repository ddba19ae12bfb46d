#include "transport/fabric/testing/end.h"

#include <sys/mman.h>

#include <utility>

#include "transport/realtime/testing/eventually.h"
#include "verbs/assert.h"

namespace anyrdma::transport::fabric::testing {

using realtime::testing::eventually;

End::End(const FabricConfig& config, const EndOptions& options)
    : station_(Fabric::open(config).value()), options_(options) {
  ibv_device* const device = station_->transport().devices()[0];
  provider_ = &station_->transport().provider_of(device);
  context_ = provider_->open_device(device).value();
  pd = provider_->alloc_pd(context_).value();
  cq = provider_->create_cq(context_, 1024, nullptr, nullptr, 0).value();
  void* const at =
      ::mmap(nullptr, kBytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CM_ASSERT(at != MAP_FAILED);
  memory_ = static_cast<std::uint8_t*>(at) + options.offset;
  mr = provider_
           ->reg_mr(pd, memory_, kBytes, reinterpret_cast<std::uintptr_t>(memory_), options.access)
           .value();
  ibv_qp_init_attr init{};
  init.qp_type = options.type;
  init.send_cq = init.recv_cq = cq;
  init.sq_sig_all = 1;
  init.cap = {.max_send_wr = 256,
              .max_recv_wr = 64,
              .max_send_sge = 4,
              .max_recv_sge = 1,
              .max_inline_data = 256};
  qp = provider_->create_qp(pd, &init).value();
}

End::~End() {
  provider_->destroy_qp(qp).value();
  provider_->destroy_cq(cq).value();
  deregister();
  provider_->dealloc_pd(pd).value();
  provider_->close_device(context_).value();
  unmap();
}

void End::unmap() {
  if (std::exchange(mapped_, false)) ::munmap(memory_ - options_.offset, kBytes + 4096);
}

void End::deregister() {
  if (mr != nullptr) provider_->dereg_mr(std::exchange(mr, nullptr)).value();
}

EndAddress End::address() const {
  return {.gid = provider_->query_gid(context_, 1, 0).value().gid,
          .qp_num = qp->qp_num,
          .rkey = mr->rkey,
          .memory = reinterpret_cast<std::uintptr_t>(memory_)};
}

void End::connect(const EndAddress& other) {
  peer = other;
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  attr.qp_access_flags = options_.access;
  provider_
      ->modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
      .value();
  attr = {};
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = IBV_MTU_1024;
  attr.dest_qp_num = other.qp_num;
  attr.max_dest_rd_atomic = 4;
  attr.ah_attr.is_global = 1;
  attr.ah_attr.port_num = 1;
  attr.ah_attr.grh.dgid = other.gid;
  attr.ah_attr.grh.hop_limit = 1;
  const bool reliable = options_.type == IBV_QPT_RC;
  const int to_receive = reliable ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0;
  const int to_send =
      reliable ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC : 0;
  provider_
      ->modify_qp(
          qp, &attr,
          IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | to_receive)
      .value();
  if (options_.state == IBV_QPS_RTR) return;
  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = 14;
  attr.rnr_retry = 7;
  attr.max_rd_atomic = 4;
  provider_->modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | to_send).value();
}

void End::modify(ibv_qp_state state) {
  ibv_qp_attr attr{};
  attr.qp_state = state;
  provider_->modify_qp(qp, &attr, IBV_QP_STATE).value();
}

int End::post(ibv_send_wr& request) {
  ibv_send_wr* bad = nullptr;
  return ibv_post_send(qp, &request, &bad);
}

int End::post(ibv_wr_opcode opcode, std::size_t offset, std::uint32_t length,
              std::uint64_t remote_offset, unsigned flags) {
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(memory_ + offset), length, mr->lkey};
  ibv_send_wr request{};
  request.sg_list = &sge;
  request.num_sge = 1;
  request.opcode = opcode;
  request.send_flags = flags;
  if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    request.wr.atomic.remote_addr = peer.memory + remote_offset;
    request.wr.atomic.rkey = peer.rkey;
    request.wr.atomic.compare_add = 1;
  } else {
    request.wr.rdma.remote_addr = peer.memory + remote_offset;
    request.wr.rdma.rkey = peer.rkey;
  }
  return post(request);
}

void End::post_receive(std::size_t offset, std::uint32_t length) {
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(memory_ + offset), length, mr->lkey};
  ibv_recv_wr request{};
  request.sg_list = &sge;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  CM_ASSERT(ibv_post_recv(qp, &request, &bad) == 0);
}

int End::next_completion() {
  ibv_wc completion{};
  if (!eventually([&] { return ibv_poll_cq(cq, 1, &completion) == 1; })) return -1;
  return completion.status;
}

int End::run(ibv_wr_opcode opcode, std::size_t offset, std::uint32_t length,
             std::uint64_t remote_offset, unsigned flags) {
  CM_ASSERT(post(opcode, offset, length, remote_offset, flags) == 0);
  return next_completion();
}

bool End::come_near() {
  const std::uint64_t before = near_operations();
  return eventually([&] {
           return run(IBV_WR_RDMA_WRITE, 0, 1, 0) != IBV_WC_SUCCESS || near_operations() > before;
         }) &&
         near_operations() > before;
}

verbs::soft::Hca& End::hca() const {
  return dynamic_cast<verbs::soft::Hca&>(*provider_);
}

}  // namespace anyrdma::transport::fabric::testing
