// Enhanced connection establishment, for programs that make their queue pairs themselves.
#include <rdma/rdma_cma.h>

#include "cm/id.h"
#include "verbs/c_api/c_result.h"

using namespace anyrdma::c_api;
using anyrdma::cm::Id;

extern "C" {

int rdma_set_local_ece(rdma_cm_id* id, ibv_ece* ece) {
  if (id == nullptr || ece == nullptr) return fail(EINVAL);
  return minus_one_on_error([&] { return Id::from(id).set_local_ece(*ece); });
}

int rdma_get_remote_ece(rdma_cm_id* id, ibv_ece* ece) {
  if (id == nullptr || ece == nullptr) return fail(EINVAL);
  return minus_one_on_error([&]() -> Result<void> {
    const auto remote = Id::from(id).remote_ece();
    if (!remote) return remote.error();
    *ece = {remote->vendor_id, remote->options, 0};
    return {};
  });
}

}  // extern "C"
