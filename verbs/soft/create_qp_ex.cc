// ibv_create_qp_ex: queue pairs with attributes that ibv_qp_init_attr has no room for.
#include <cerrno>

#include "verbs/soft/context.h"
#include "verbs/soft/soft_hca.h"

namespace anyrdma::verbs::soft {

namespace {

constexpr std::uint32_t kKnownFields =
    IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
    IBV_QP_INIT_ATTR_MAX_TSO_HEADER | IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH |
    IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
constexpr std::uint32_t kDomain = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD;
constexpr std::uint32_t kServed = kDomain | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS |
                                  IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_MAX_TSO_HEADER;

// A receiving extended connection has a domain of its own kind, all others a protection domain.
int check(const ibv_qp_init_attr_ex& init) {
  if ((init.comp_mask & ~kKnownFields) != 0) return EINVAL;
  if ((init.comp_mask & ~kServed) != 0) return EOPNOTSUPP;
  // Of these two there is nothing to ask for: only that it is not asked for.
  const auto asks = [&init](std::uint32_t attribute) { return (init.comp_mask & attribute) != 0; };
  if (asks(IBV_QP_INIT_ATTR_CREATE_FLAGS) && init.create_flags != 0) return EOPNOTSUPP;
  if (asks(IBV_QP_INIT_ATTR_MAX_TSO_HEADER) && init.max_tso_header != 0) return EOPNOTSUPP;
  const bool receives = init.qp_type == IBV_QPT_XRC_RECV;
  const std::uint32_t needed = receives ? IBV_QP_INIT_ATTR_XRCD : IBV_QP_INIT_ATTR_PD;
  if ((init.comp_mask & kDomain) != needed) return EINVAL;
  if (receives ? init.xrcd == nullptr : init.pd == nullptr) return EINVAL;
  if ((init.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) == 0) return 0;
  return check_send_operations(init.qp_type, init.send_ops_flags);
}

ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* init) {
  int error = init == nullptr ? EINVAL : check(*init);
  if (error == 0) {
    ibv_qp_init_attr basic{init->qp_context, init->send_cq, init->recv_cq,   init->srq,
                           init->cap,        init->qp_type, init->sq_sig_all};
    const bool receives = init->qp_type == IBV_QPT_XRC_RECV;
    const GivenQpOwner owner{context, receives ? nullptr : init->pd,
                             receives ? init->xrcd : nullptr};
    const auto made = static_cast<SoftHca&>(provider_of(context)).make_qp(owner, basic);
    if (made) {
      init->cap = basic.cap;
      if ((init->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0)
        give_send_functions(*static_cast<SoftQp*>(*made), init->send_ops_flags);
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
