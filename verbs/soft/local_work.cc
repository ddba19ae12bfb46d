// The requester's work that needs no packet: invalidating a key, binding a window. It is done when
// its turn comes and completes in order with the rest.
#include "verbs/soft/queue_pair.h"

namespace anyrdma::verbs::soft {

void Requester::fill_local(SendWork& work, const ibv_send_wr& request) {
  work.length = 0;
  work.remote_key = request.invalidate_rkey;
  if (request.opcode != IBV_WR_BIND_MW) return;
  const ibv_mw_bind_info& info = request.bind_mw.bind_info;
  bindings_.push_back({.window = request.bind_mw.mw->rkey,
                       .key = request.bind_mw.rkey,
                       .region = info.mr == nullptr ? 0 : info.mr->lkey,
                       .address = info.addr,
                       .length = info.length,
                       .access = info.mw_access_flags});
}

// Goes on to the next work with packets, or to where it has to wait. What was done stays done when
// packets before it are repeated.
void Requester::pass_local_work() {
  while (next_ != queue_.tail() && queue_[next_].kind == WorkKind::kLocal && wants_to_send()) {
    SendWork& work = queue_[next_];
    if (next_ == started_) {
      work.first_psn = next_psn_;
      if (!carry_out(work)) {
        work.status = IBV_WC_MW_BIND_ERR;
        if (next_ == queue_.head()) fail(work.status);
        return;
      }
      ++started_;
    }
    ++next_;
    complete_local_work();
  }
}

bool Requester::carry_out(const SendWork& work) {
  if (work.opcode == IBV_WR_LOCAL_INV) return core_.memory.invalidate(work.remote_key, qp_);
  return core_.memory.bind(bindings_.pop_front(), qp_);
}

// What all before it has completed.
void Requester::complete_local_work() {
  while (queue_.head() != started_ && queue_.front().kind == WorkKind::kLocal)
    complete_front(IBV_WC_SUCCESS);
  if (static_cast<std::int32_t>(next_ - queue_.head()) >= 0) return;
  next_ = queue_.head();  // it was about to be passed again
  packet_ = 0;
}

}  // namespace anyrdma::verbs::soft
