// Queue pairs. Posting goes through context->ops.
#include <infiniband/verbs.h>

#include "verbs/c_api/c_result.h"
#include "verbs/provider.h"

using namespace anyrdma::c_api;
using anyrdma::verbs::provider_of;

extern "C" {

ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) {
  return null_on_error([&]() -> Result<ibv_qp*> {
    if (pd == nullptr || attr == nullptr) return errno_code(EINVAL);
    return provider_of(pd->context).create_qp(pd, attr);
  });
}

int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int attr_mask) {
  if (qp == nullptr || attr == nullptr) return EINVAL;
  return errno_on_error([&] { return provider_of(qp->context).modify_qp(qp, attr, attr_mask); });
}

int ibv_query_qp(ibv_qp* qp, ibv_qp_attr* attr, int attr_mask, ibv_qp_init_attr* init_attr) {
  if (qp == nullptr || attr == nullptr || init_attr == nullptr) return EINVAL;
  return errno_on_error(
      [&] { return provider_of(qp->context).query_qp(qp, attr, attr_mask, init_attr); });
}

int ibv_destroy_qp(ibv_qp* qp) {
  if (qp == nullptr) return EINVAL;
  return errno_on_error([&] { return provider_of(qp->context).destroy_qp(qp); });
}

// No queue pair of ours was made with the extended send operations (ibv_create_qp_ex refuses them).
ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp*) {
  return nullptr;
}

// 0: nothing is promised about the order in which the bytes of a message arrive.
int ibv_query_qp_data_in_order(ibv_qp*, ibv_wr_opcode, std::uint32_t) {
  return 0;
}

}  // extern "C"
