// ibv_create_qp_ex: queue pairs with attributes that ibv_qp_init_attr has no room for.
#include <cerrno>

#include "verbs/soft/context.h"
#include "verbs/soft/soft_hca.h"

namespace anyrdma::verbs::soft {

namespace {

constexpr std::uint32_t kKnown = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD |
                                 IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_MAX_TSO_HEADER |
                                 IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH |
                                 IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
constexpr std::uint32_t kServed = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD;

// A receiving extended connection has a domain of its own kind, all others a protection domain.
int check(const ibv_qp_init_attr_ex& init) {
  if ((init.comp_mask & ~kKnown) != 0) return EINVAL;
  if ((init.comp_mask & ~kServed) != 0) return EOPNOTSUPP;
  const bool receives = init.qp_type == IBV_QPT_XRC_RECV;
  const std::uint32_t needed = receives ? IBV_QP_INIT_ATTR_XRCD : IBV_QP_INIT_ATTR_PD;
  return (init.comp_mask & kServed) == needed ? 0 : EINVAL;
}

ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* init) {
  int error = check(*init);
  if (error == 0) {
    ibv_qp_init_attr basic{init->qp_context, init->send_cq, init->recv_cq,   init->srq,
                           init->cap,        init->qp_type, init->sq_sig_all};
    const bool receives = init->qp_type == IBV_QPT_XRC_RECV;
    const QpOwner owner{context, receives ? nullptr : static_cast<SoftPd*>(init->pd),
                        receives ? static_cast<SoftXrcd*>(init->xrcd) : nullptr};
    const auto made = static_cast<SoftHca&>(provider_of(context)).make_qp(owner, basic);
    if (made) {
      init->cap = basic.cap;
      return *made;
    }
    error = made.error().value();
  }
  errno = error;
  return nullptr;
}

}  // namespace

void install_qp_creation(verbs_context& context) {
  context.create_qp_ex = create_qp_ex;
}

}  // namespace anyrdma::verbs::soft
