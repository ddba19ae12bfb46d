// The id's shared receive queue (L/cma.c:rdma_create_srq_ex). Outside the critical section.
#include "cm/id.h"
#include "verbs/provider.h"

namespace anyrdma::cm {

Result<void> Id::create_srq(ibv_pd* pd, ibv_srq_init_attr* attr) {
  if (attr == nullptr || raw_.id.verbs == nullptr) return verbs::errno_code(EINVAL);
  if (raw_.id.qp_type == IBV_QPT_XRC_RECV) return verbs::errno_code(EOPNOTSUPP);  // no XRC here
  if (pd == nullptr) pd = raw_.id.pd;
  if (pd->context != raw_.id.verbs) return verbs::errno_code(EINVAL);
  Result<ibv_srq*> made = verbs::provider_of(raw_.id.verbs).create_srq(pd, attr);
  if (!made) return made.error();
  raw_.id.srq = *made;
  return {};
}

Result<void> Id::destroy_srq() {
  if (raw_.id.srq == nullptr) return verbs::errno_code(EINVAL);
  Result<void> destroyed = verbs::provider_of(raw_.id.srq->context).destroy_srq(raw_.id.srq);
  if (destroyed) raw_.id.srq = nullptr;
  return destroyed;
}

}  // namespace anyrdma::cm
