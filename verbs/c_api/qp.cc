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

int ibv_attach_mcast(ibv_qp* qp, const ibv_gid* gid, std::uint16_t lid) {
  if (qp == nullptr || gid == nullptr) return EINVAL;
  return errno_on_error([&] { return provider_of(qp->context).attach_mcast(qp, *gid, lid); });
}

int ibv_detach_mcast(ibv_qp* qp, const ibv_gid* gid, std::uint16_t lid) {
  if (qp == nullptr || gid == nullptr) return EINVAL;
  return errno_on_error([&] { return provider_of(qp->context).detach_mcast(qp, *gid, lid); });
}

// Gives the accepted options back in the same structure (ibv_set_ece(3)). Vendor 0 means that the
// peer knows no ECE, and is answered as if we did not either.
int ibv_set_ece(ibv_qp* qp, ibv_ece* ece) {
  if (qp == nullptr || ece == nullptr) return EINVAL;
  return errno_on_error([&]() -> Result<void> {
    if (ece->vendor_id == 0) return errno_code(EOPNOTSUPP);
    if (auto set = provider_of(qp->context).set_ece(qp, *ece); !set) return set;
    const auto accepted = provider_of(qp->context).query_ece(qp);
    if (!accepted) return accepted.error();
    *ece = *accepted;
    return {};
  });
}

int ibv_query_ece(ibv_qp* qp, ibv_ece* ece) {
  if (qp == nullptr || ece == nullptr) return EINVAL;
  return errno_on_error([&]() -> Result<void> {
    const auto current = provider_of(qp->context).query_ece(qp);
    if (!current) return current.error();
    *ece = *current;
    return {};
  });
}

ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* qp) {
  return qp == nullptr ? nullptr : provider_of(qp->context).qp_to_qp_ex(qp);
}

// 0: nothing is promised about the order in which the bytes of a message arrive.
int ibv_query_qp_data_in_order(ibv_qp*, ibv_wr_opcode, std::uint32_t) {
  return 0;
}

}  // extern "C"
