// The id's queue pair.
#include <rdma/rdma_cma.h>

#include "cm/c_api/request_pace.h"
#include "cm/id.h"
#include "verbs/c_api/c_result.h"

using namespace anyrdma::c_api;
using anyrdma::cm::Id;

extern "C" {

int rdma_create_qp(rdma_cm_id* id, ibv_pd* pd, ibv_qp_init_attr* qp_init_attr) {
  if (id == nullptr) return fail(EINVAL);
  RequestPace::taken(id);
  return minus_one_on_error([&] { return Id::from(id).create_qp(pd, qp_init_attr); });
}

// Of the extended attributes only the protection domain; ENOTSUP for others.
int rdma_create_qp_ex(rdma_cm_id* id, ibv_qp_init_attr_ex* qp_init_attr) {
  if (id == nullptr || qp_init_attr == nullptr) return fail(EINVAL);
  if ((qp_init_attr->comp_mask & ~static_cast<unsigned>(IBV_QP_INIT_ATTR_PD)) != 0) {
    return fail(ENOTSUP);
  }
  if ((qp_init_attr->comp_mask & IBV_QP_INIT_ATTR_PD) == 0 || qp_init_attr->pd == nullptr) {
    qp_init_attr->pd = id->pd;
    qp_init_attr->comp_mask |= IBV_QP_INIT_ATTR_PD;
  }
  // The extended structure begins with the plain one.
  auto* plain = reinterpret_cast<ibv_qp_init_attr*>(qp_init_attr);
  return rdma_create_qp(id, qp_init_attr->pd, plain);
}

void rdma_destroy_qp(rdma_cm_id* id) {
  if (id == nullptr) return;
  (void)minus_one_on_error([&] { return Id::from(id).destroy_qp(); });
}

int rdma_init_qp_attr(rdma_cm_id* id, ibv_qp_attr* qp_attr, int* qp_attr_mask) {
  if (id == nullptr || qp_attr == nullptr || qp_attr_mask == nullptr) return fail(EINVAL);
  return minus_one_on_error([&]() -> Result<void> {
    const auto transition = Id::from(id).init_qp_attr(qp_attr->qp_state);
    if (!transition) return transition.error();
    *qp_attr = transition->attr;
    *qp_attr_mask = transition->mask;
    return {};
  });
}

}  // extern "C"
