#include "verbs/soft/receive_queue.h"

#include <cerrno>
#include <utility>

#include "verbs/soft/ownership.h"
#include "verbs/soft/queue_pair.h"
#include "verbs/soft/scatter_gather.h"

namespace anyrdma::verbs::soft {

void ReceiveQueue::configure() {
  const ibv_qp_cap& cap = qp_.cap;
  source_ = static_cast<SoftSrq*>(qp_.srq);
  if (source_ != nullptr) {
    queue_.configure(1, source_->list_bytes(), true);
  } else if (qp_.service == roce::Service::kXrc) {
    queue_.configure(1, std::size_t{qp_.core.config.max_srq_sge} * sizeof(ibv_sge), true);
  } else {
    queue_.configure(cap.max_recv_wr, std::size_t{cap.max_recv_sge} * sizeof(ibv_sge),
                     qp_.core.config.free_when_executed);
  }
  discard();
}

int ReceiveQueue::post(const ibv_recv_wr& request) {
  if (qp_.srq != nullptr || qp_.service == roce::Service::kXrc) return EINVAL;
  const int error = post_receive(queue_, request, qp_.cap.max_recv_sge);
  if (error == 0 && qp_.core.ownership != nullptr) qp_.core.ownership->on_receive(qp_, request);
  if (error == 0 && qp_.state == IBV_QPS_ERR) flush();
  return error;
}

bool ReceiveQueue::take_shared() {
  if (source_ == nullptr || source_->size() == 0) return false;
  drawn_ = source_->move_front_to(queue_);
  if (qp_.core.ownership != nullptr) qp_.core.ownership->on_drawn(*source_, qp_);
  return true;
}

void ReceiveQueue::let_go() {
  if (qp_.core.ownership != nullptr) qp_.core.ownership->on_receives_gone(qp_);
  discard();
  source_ = nullptr;
  qp_.responder.abandon_message();
}

void ReceiveQueue::discard() {
  queue_.clear();
  std::exchange(drawn_, {}).release();
}

ibv_wc_status ReceiveQueue::fill(std::uint64_t offset, std::span<const std::uint8_t> payload) {
  ReceiveWork& work = queue_.front();
  const ibv_pd* const domain = source_ != nullptr ? source_->pd : qp_.pd;
  return scatter(qp_.core.memory, domain, {work.list(), work.sge_count}, offset, payload);
}

void ReceiveQueue::complete(ibv_wc& completion, bool solicited) {
  completion.wr_id = queue_.front().wr_id;
  completion.qp_num = qp_.qp_num;
  const FreedPlaces own = queue_.cover_front(true);
  const FreedPlaces frees = source_ != nullptr ? std::exchange(drawn_, {}) : own;
  queue_.pop();
  if (qp_.core.ownership != nullptr) qp_.core.ownership->on_receive_done(qp_, completion);
  if (qp_.counters != nullptr)
    qp_.counters->count(Counted::kReceive, completion.byte_len,
                        completion.status == IBV_WC_SUCCESS);
  SoftCq* const shared = source_ != nullptr ? source_->completions() : nullptr;
  (shared != nullptr ? *shared : qp_.receive_completions()).push(completion, solicited, frees);
}

void ReceiveQueue::flush(ibv_wc_status first) {
  while (!queue_.empty()) {
    ibv_wc completion{};
    completion.status = std::exchange(first, IBV_WC_WR_FLUSH_ERR);
    completion.opcode = IBV_WC_RECV;
    complete(completion, false);
  }
}

}  // namespace anyrdma::verbs::soft
