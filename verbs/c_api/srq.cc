// Shared receive queues. Posting goes through context->ops; ibv_create_srq_ex comes here for those
// of the basic type and finds no operation for the others.
#include <infiniband/verbs.h>

#include "verbs/c_api/c_result.h"
#include "verbs/provider.h"

using namespace anyrdma::c_api;
using anyrdma::verbs::provider_of;

extern "C" {

ibv_srq* ibv_create_srq(ibv_pd* pd, ibv_srq_init_attr* srq_init_attr) {
  return null_on_error([&]() -> Result<ibv_srq*> {
    if (pd == nullptr || srq_init_attr == nullptr) return errno_code(EINVAL);
    return provider_of(pd->context).create_srq(pd, srq_init_attr);
  });
}

int ibv_modify_srq(ibv_srq* srq, ibv_srq_attr* srq_attr, int srq_attr_mask) {
  if (srq == nullptr || srq_attr == nullptr) return EINVAL;
  return errno_on_error(
      [&] { return provider_of(srq->context).modify_srq(srq, *srq_attr, srq_attr_mask); });
}

int ibv_query_srq(ibv_srq* srq, ibv_srq_attr* srq_attr) {
  if (srq == nullptr || srq_attr == nullptr) return EINVAL;
  return errno_on_error([&] { return provider_of(srq->context).query_srq(srq, srq_attr); });
}

int ibv_destroy_srq(ibv_srq* srq) {
  if (srq == nullptr) return EINVAL;
  return errno_on_error([&] { return provider_of(srq->context).destroy_srq(srq); });
}

}  // extern "C"
