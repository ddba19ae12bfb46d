#include "recording/work/observer.h"

#include <numeric>

namespace anyrdma::recording {
namespace {

std::string_view name_of(ibv_qp_state state) {
  switch (state) {
    case IBV_QPS_RESET:
      return "RESET";
    case IBV_QPS_INIT:
      return "INIT";
    case IBV_QPS_RTR:
      return "RTR";
    case IBV_QPS_RTS:
      return "RTS";
    case IBV_QPS_SQD:
      return "SQD";
    case IBV_QPS_SQE:
      return "SQE";
    case IBV_QPS_ERR:
      return "ERR";
    default:  // foreign enum
      return "UNKNOWN";
  }
}

std::string_view name_of(ibv_wr_opcode opcode) {
  switch (opcode) {
    case IBV_WR_RDMA_WRITE:
      return "RDMA_WRITE";
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return "RDMA_WRITE_WITH_IMM";
    case IBV_WR_SEND:
      return "SEND";
    case IBV_WR_SEND_WITH_IMM:
      return "SEND_WITH_IMM";
    case IBV_WR_RDMA_READ:
      return "RDMA_READ";
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      return "ATOMIC_CMP_AND_SWP";
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return "ATOMIC_FETCH_AND_ADD";
    case IBV_WR_LOCAL_INV:
      return "LOCAL_INV";
    case IBV_WR_BIND_MW:
      return "BIND_MW";
    case IBV_WR_SEND_WITH_INV:
      return "SEND_WITH_INV";
    default:  // foreign enum
      return "OTHER";
  }
}

std::uint64_t bytes_of(const ibv_sge* list, int count) {
  return std::accumulate(list, list + count, std::uint64_t{0},
                         [](std::uint64_t sum, const ibv_sge& each) { return sum + each.length; });
}

PostedWork receive(std::uint32_t qp_num, std::string_view name, const ibv_recv_wr& request) {
  return {.qp_num = qp_num,
          .operation = name,
          .wr_id = request.wr_id,
          .bytes = bytes_of(request.sg_list, request.num_sge)};
}

/// Whether an event names a queue pair.
bool is_of_queue_pair(ibv_event_type type) {
  switch (static_cast<int>(type)) {
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      return true;
    default:  // foreign enum
      return false;
  }
}

}  // namespace

// --- what is told -------------------------------------------------------------------------------

void WorkObserver::on_opened(const ibv_qp& qp) {
  sink_.on_queue_pair({.qp_num = qp.qp_num, .state = name_of(IBV_QPS_RESET)});
  if (next_ != nullptr) next_->on_opened(qp);
}

void WorkObserver::on_state(const ibv_qp& qp, ibv_qp_state state) {
  sink_.on_queue_pair({.qp_num = qp.qp_num, .state = name_of(state)});
  if (next_ != nullptr) next_->on_state(qp, state);
}

void WorkObserver::on_discarding(const ibv_qp& qp, bool destroyed) {
  if (destroyed) sink_.on_queue_pair({.qp_num = qp.qp_num, .state = "destroyed"});
  if (next_ != nullptr) next_->on_discarding(qp, destroyed);
}

void WorkObserver::on_posted(const ibv_qp& qp, const ibv_send_wr& request, bool signaled) {
  sink_.on_work({.qp_num = qp.qp_num,
                 .operation = name_of(request.opcode),
                 .wr_id = request.wr_id,
                 .bytes = bytes_of(request.sg_list, request.num_sge)});
  if (next_ != nullptr) next_->on_posted(qp, request, signaled);
}

void WorkObserver::on_posted(const ibv_qp& qp, const ibv_recv_wr& request) {
  sink_.on_work(receive(qp.qp_num, "RECV", request));
  if (next_ != nullptr) next_->on_posted(qp, request);
}

void WorkObserver::on_posted(const ibv_srq& srq, const ibv_recv_wr& request) {
  sink_.on_work(receive(0, "SRQ_RECV", request));
  if (next_ != nullptr) next_->on_posted(srq, request);
}

void WorkObserver::on_polled(const ibv_cq& cq, const ibv_wc& completion) {
  const bool good = completion.status == IBV_WC_SUCCESS;  // else the rest says nothing
  sink_.on_completion({.qp_num = completion.qp_num,
                       .wr_id = completion.wr_id,
                       .opcode = good ? static_cast<std::uint64_t>(completion.opcode) : 0,
                       .status = static_cast<std::uint64_t>(completion.status),
                       .bytes = good ? completion.byte_len : 0});
  if (next_ != nullptr) next_->on_polled(cq, completion);
}

void WorkObserver::on_raised(const ibv_async_event& event) {
  const bool of_qp = is_of_queue_pair(event.event_type);
  sink_.on_async({.type = static_cast<std::uint64_t>(event.event_type),
                  .qp_num = of_qp ? event.element.qp->qp_num : 0});
  if (next_ != nullptr) next_->on_raised(event);
}

// --- what is only passed on ---------------------------------------------------------------------

void WorkObserver::on_closing(const ibv_srq& srq) {
  if (next_ != nullptr) next_->on_closing(srq);
}

void WorkObserver::on_limit_set(const ibv_srq& srq, std::uint32_t limit) {
  if (next_ != nullptr) next_->on_limit_set(srq, limit);
}

void WorkObserver::on_atomic_done(const ibv_qp& qp, std::uint32_t psn, std::uint64_t original) {
  if (next_ != nullptr) next_->on_atomic_done(qp, psn, original);
}

void WorkObserver::on_atomic_answer(const ibv_qp& qp, std::uint32_t psn, std::uint64_t original) {
  if (next_ != nullptr) next_->on_atomic_answer(qp, psn, original);
}

void WorkObserver::on_key_opened(std::uint32_t key) {
  if (next_ != nullptr) next_->on_key_opened(key);
}

void WorkObserver::on_key_closed(std::uint32_t key) {
  if (next_ != nullptr) next_->on_key_closed(key);
}

}  // namespace anyrdma::recording
