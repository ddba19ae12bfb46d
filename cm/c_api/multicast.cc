// Multicast groups.
#include <rdma/rdma_cma.h>

#include "cm/id.h"
#include "verbs/c_api/c_result.h"

namespace anyrdma::c_api {
namespace {

constexpr std::uint32_t kNeeded = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;

int join(rdma_cm_id* id, const sockaddr* group, void* context, transport::JoinState state) {
  return minus_one_on_error([&] { return cm::Id::from(id).join_multicast(group, context, state); });
}

}  // namespace
}  // namespace anyrdma::c_api

using namespace anyrdma::c_api;
using anyrdma::cm::Id;
using anyrdma::transport::JoinState;

extern "C" {

int rdma_join_multicast(rdma_cm_id* id, sockaddr* addr, void* context) {
  if (id == nullptr) return fail(EINVAL);
  return join(id, addr, context, JoinState::kFullMember);
}

int rdma_join_multicast_ex(rdma_cm_id* id, rdma_cm_join_mc_attr_ex* mc_join_attr, void* context) {
  if (id == nullptr || mc_join_attr == nullptr) return fail(EINVAL);
  if (mc_join_attr->comp_mask >= RDMA_CM_JOIN_MC_ATTR_RESERVED) return fail(ENOTSUP);
  if (mc_join_attr->comp_mask != kNeeded) return fail(EINVAL);
  if (mc_join_attr->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED) return fail(EINVAL);
  return join(id, mc_join_attr->addr, context, static_cast<JoinState>(mc_join_attr->join_flags));
}

int rdma_leave_multicast(rdma_cm_id* id, sockaddr* addr) {
  if (id == nullptr) return fail(EINVAL);
  return minus_one_on_error([&] { return Id::from(id).leave_multicast(addr); });
}

}  // extern "C"
