// What the requester does to the application's memory, and what it then tells the application:
// answers are placed, and completions follow them.
#include "verbs/soft/queue_pair.h"
#include "verbs/soft/requester.h"
#include "verbs/soft/scatter_gather.h"

namespace anyrdma::verbs::soft {

void Requester::choose_fetch(SendWork& work) const {
  if (has_response(work.kind) || work.kind == WorkKind::kLocal) return;
  if (!work.inline_data && work.length > 0) work.fetch = qp_.effects->choose_fetch();
}

// Whether the work may go on, as far as memory is concerned.
bool Requester::effects_allow(const SendWork& work) const {
  if (work.fence && qp_.effects->returning()) return false;
  const std::uint32_t packets = std::max(1u, (work.length + qp_.mtu() - 1) / qp_.mtu());
  return work.fetch == 0 || qp_.effects->fetch_is_due(work.fetch, packet_, packets);
}

void Requester::fetch_now() {
  if (next_ != queue_.tail()) queue_[next_].fetch = 0;
}

void Requester::blur_target(SendWork& work) const {
  if (work.kind == WorkKind::kAtomicWrite) return;
  blur(core_, qp_.pd, {work.list(), work.sge_count});
}

ibv_wc_status Requester::place(SendWork& work, std::uint32_t offset,
                               std::span<const std::uint8_t> data) const {
  const std::span<const ibv_sge> list(work.list(), work.sge_count);
  if (!qp_.effects || data.empty()) return scatter(core_.memory, qp_.pd, list, offset, data);
  return qp_.effects->place(list, offset, data, work.responses == 0);
}

void Requester::report(const SendWork& work, ibv_wc_status status, const FreedPlaces& frees) {
  if (qp_.effects && qp_.effects->returning()) {
    if (status == IBV_WC_SUCCESS) {
      ibv_wc completion;
      describe(completion, work, status);
      qp_.effects->report_later(completion, frees);
      return;
    }
    qp_.effects->settle_returned();
  }
  SoftCq& completions = qp_.send_completions();
  ibv_wc* const completion = completions.add(frees);
  if (completion == nullptr) return;
  describe(*completion, work, status);
  completions.added(*completion, false);
}

void Requester::describe(ibv_wc& completion, const SendWork& work, ibv_wc_status status) const {
  completion = ibv_wc{};
  completion.wr_id = work.wr_id;
  completion.status = status;
  completion.opcode = work.operation().completion;
  completion.byte_len = work.length;
  completion.qp_num = qp_.qp_num;
}

}  // namespace anyrdma::verbs::soft
