// The id's shared receive queue.
#include <rdma/rdma_verbs.h>

#include "cm/id.h"
#include "verbs/c_api/c_result.h"

using namespace anyrdma::c_api;
using anyrdma::cm::Id;

extern "C" {

int rdma_create_srq(rdma_cm_id* id, ibv_pd* pd, ibv_srq_init_attr* attr) {
  if (id == nullptr) return fail(EINVAL);
  return minus_one_on_error([&] { return Id::from(id).create_srq(pd, attr); });
}

// Of the extended attributes the type BASIC and the protection domain; EOPNOTSUPP for others, as
// from a device that has no others.
int rdma_create_srq_ex(rdma_cm_id* id, ibv_srq_init_attr_ex* attr) {
  if (id == nullptr || attr == nullptr) return fail(EINVAL);
  if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) == 0 || id->verbs == nullptr) return fail(EINVAL);
  constexpr std::uint32_t kKnown = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
  const bool has_pd = (attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) != 0 && attr->pd != nullptr;
  if (!has_pd) {
    attr->pd = id->pd;
    attr->comp_mask |= IBV_SRQ_INIT_ATTR_PD;
  }
  if ((attr->comp_mask & ~kKnown) != 0 || attr->srq_type != IBV_SRQT_BASIC) {
    return fail(EOPNOTSUPP);
  }
  // The extended structure begins with the plain one.
  auto* plain = reinterpret_cast<ibv_srq_init_attr*>(attr);
  return minus_one_on_error([&] { return Id::from(id).create_srq(attr->pd, plain); });
}

void rdma_destroy_srq(rdma_cm_id* id) {
  if (id == nullptr) return;
  (void)minus_one_on_error([&] { return Id::from(id).destroy_srq(); });
}

}  // extern "C"
