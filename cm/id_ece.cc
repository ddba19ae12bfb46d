// Enhanced connection establishment: options of one vendor's devices, agreed upon by REQ and REP
// (L/cma.c:init_ece, set_local_ece, ucma_process_conn_resp_ece). Outside the
// critical section.
#include "cm/id.h"
#include "verbs/provider.h"

namespace anyrdma::cm {
namespace {

/// A device without options has nothing to say, which is not an error.
Result<ibv_ece> query(ibv_qp& qp) {
  Result<ibv_ece> answer = verbs::provider_of(qp.context).query_ece(&qp);
  if (!answer && answer.error() == verbs::errno_code(EOPNOTSUPP)) return ibv_ece{};
  return answer;
}

Result<void> set(ibv_qp& qp, const ibv_ece& ece) {
  Result<void> done = verbs::provider_of(qp.context).set_ece(&qp, ece);
  if (!done && done.error() == verbs::errno_code(EOPNOTSUPP)) return {};
  return done;
}

}  // namespace

Result<void> Id::set_local_ece(const ibv_ece& ece) {
  if (raw_.id.qp != nullptr || ece.vendor_id == 0 || ece.comp_mask != 0) {
    return verbs::errno_code(EINVAL);
  }
  local_ece_ = ece;
  return {};
}

Result<ibv_ece> Id::remote_ece() const {
  if (raw_.id.qp != nullptr) return verbs::errno_code(EINVAL);
  return remote_ece_;
}

Result<void> Id::offer_ece(ibv_qp& qp) {
  Result<ibv_ece> own = query(qp);
  if (!own) return own.error();
  local_ece_ = {own->vendor_id, own->options, 0};
  if (remote_ece_.vendor_id == 0) return {};  // not the answer to a request that has options
  const bool same_vendor = remote_ece_.vendor_id == local_ece_.vendor_id;
  return set(qp, {local_ece_.vendor_id, same_vendor ? remote_ece_.options : 0, 0});
}

Result<void> Id::take_ece(ibv_qp& qp) {
  Result<ibv_ece> agreed = query(qp);
  if (!agreed) return agreed.error();
  local_ece_.options = agreed->options;
  return {};
}

bool Id::is_acceptable(const ibv_ece& answer) const {
  return answer.vendor_id == 0 || answer.vendor_id == local_ece_.vendor_id;
}

Result<void> Id::agree_on_ece(const ibv_ece& answer) {
  remote_ece_.vendor_id = answer.vendor_id;
  // Vendor 0: the peer knows no options, so ours are off.
  return set(*raw_.id.qp, {local_ece_.vendor_id, answer.vendor_id == 0 ? 0 : answer.options, 0});
}

}  // namespace anyrdma::cm
