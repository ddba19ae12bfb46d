// Shared receive queues of the software HCA.
#include <cerrno>

#include "verbs/soft/soft_hca.h"

namespace anyrdma::verbs::soft {

Result<ibv_srq*> SoftHca::create_srq(ibv_pd* pd, ibv_srq_init_attr* init) {
  CriticalSection section(core_.runtime);
  const auto made = make_srq(*pd, *init);
  if (!made) return made.error();
  return *made;
}

Result<SoftSrq*> SoftHca::make_srq(const ibv_pd& pd, ibv_srq_init_attr& init) {
  if (const int error = core_.refusal("create_srq"); error != 0) return errno_code(error);
  const HcaConfig& config = core_.config;
  if (config.max_srq == 0) return errno_code(EOPNOTSUPP);
  const ibv_srq_attr& attr = init.attr;
  if (attr.max_wr == 0 || attr.max_wr > config.max_srq_wr) return errno_code(EINVAL);
  if (attr.max_sge > config.max_srq_sge) return errno_code(EINVAL);
  if (shared_receive_queues_ >= config.max_srq) return errno_code(ENOMEM);
  const auto found = core_.handles.find<SoftPd>(pd);
  if (!found) return found.error();
  SoftPd& domain = protecting(*found);
  auto* srq = new SoftSrq(domain, init.srq_context, attr);
  ++shared_receive_queues_;
  srq->made = ++core_.objects().shared_receive_queues;
  live_shared_receive_queues_.push_back(*srq);
  ++domain.users;
  return srq;
}

Result<void> SoftHca::modify_srq(ibv_srq* srq, const ibv_srq_attr& attr, int mask) {
  CriticalSection section(core_.runtime);
  if (const int error = core_.refusal("modify_srq"); error != 0) return errno_code(error);
  if ((mask & ~(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT)) != 0) return errno_code(EINVAL);
  const auto found = core_.handles.find<SoftSrq>(*srq);
  if (!found) return found.error();
  SoftSrq& soft = **found;
  if ((mask & IBV_SRQ_MAX_WR) != 0) {
    if (attr.max_wr == 0 || attr.max_wr > core_.config.max_srq_wr) return errno_code(EINVAL);
    if (const int error = soft.resize(attr.max_wr); error != 0) return errno_code(error);
  }
  if ((mask & IBV_SRQ_LIMIT) == 0) return {};
  if (const int error = soft.set_limit(attr.srq_limit); error != 0) return errno_code(error);
  return {};
}

Result<void> SoftHca::query_srq(ibv_srq* srq, ibv_srq_attr* attr) {
  CriticalSection section(core_.runtime);
  if (core_.removed) return errno_code(EIO);
  const auto found = core_.handles.find<SoftSrq>(*srq);
  if (!found) return found.error();
  *attr = (*found)->attr();
  return {};
}

Result<void> SoftHca::destroy_srq(ibv_srq* srq) {
  const auto found = find_to_end<SoftSrq>("ibv_destroy_srq", *srq);
  if (!found) return found.error();
  SoftSrq* const soft = *found;
  bool busy = false;
  const auto result = wait_for_acknowledgements(*soft, [this, soft, &busy] {
    busy = soft->users != 0;
    if (busy) return true;
    if (soft->async_taken != soft->async_acknowledged) return false;
    SoftContext::from(soft->context).forget_srq(*soft);
    forget_srq(*soft);
    return true;
  });
  if (result && busy) return errno_code(EBUSY);
  return result;
}

}  // namespace anyrdma::verbs::soft
