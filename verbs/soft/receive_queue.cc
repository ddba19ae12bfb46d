#include "verbs/soft/receive_queue.h"

#include <cerrno>

#include "verbs/soft/queue_pair.h"
#include "verbs/soft/scatter_gather.h"

namespace anyrdma::verbs::soft {

void ReceiveQueue::configure() {
  const ibv_qp_cap& cap = qp_.cap;
  const auto* shared = static_cast<SoftSrq*>(qp_.srq);
  if (shared != nullptr) {
    queue_.configure(1, shared->list_bytes());
  } else {
    queue_.configure(cap.max_recv_wr, std::size_t{cap.max_recv_sge} * sizeof(ibv_sge));
  }
  discard();
}

int ReceiveQueue::post(const ibv_recv_wr& request) {
  if (qp_.srq != nullptr) return EINVAL;
  const int error = post_receive(queue_, request, qp_.cap.max_recv_sge);
  if (error == 0 && qp_.state == IBV_QPS_ERR) flush();
  return error;
}

bool ReceiveQueue::take_shared() {
  if (qp_.srq == nullptr) return false;
  return static_cast<SoftSrq*>(qp_.srq)->move_front_to(queue_);
}

ibv_wc_status ReceiveQueue::fill(std::uint64_t offset, std::span<const std::uint8_t> payload) {
  ReceiveWork& work = queue_.front();
  const ibv_pd* const domain = qp_.srq != nullptr ? qp_.srq->pd : qp_.pd;
  return scatter(qp_.core.memory, domain, {work.list(), work.sge_count}, offset, payload);
}

void ReceiveQueue::complete(ibv_wc& completion, bool solicited) {
  completion.wr_id = queue_.front().wr_id;
  completion.qp_num = qp_.qp_num;
  queue_.pop();
  qp_.receive_completions().push(completion, solicited);
}

void ReceiveQueue::flush() {
  while (!queue_.empty()) {
    ibv_wc completion{};
    completion.status = IBV_WC_WR_FLUSH_ERR;
    completion.opcode = IBV_WC_RECV;
    complete(completion, false);
  }
}

}  // namespace anyrdma::verbs::soft
