#include "verbs/queue_pair.h"

#include <cerrno>

namespace anyrdma::verbs {

namespace {

template <class Request>
int refuse(ibv_qp*, Request* request, Request** bad) {
  *bad = request;
  return EINVAL;
}

constexpr ibv_context make_context() {
  ibv_context context{};
  context.ops.post_send = refuse<ibv_send_wr>;
  context.ops.post_recv = refuse<ibv_recv_wr>;
  return context;
}
constinit ibv_context context_of_nobody = make_context();

constexpr ibv_qp make_nobody() {
  ibv_qp nobody{};
  nobody.context = &context_of_nobody;
  return nobody;
}

}  // namespace

constinit ibv_qp no_queue_pair = make_nobody();

Result<QueuePair> QueuePair::create(ibv_pd* pd, ibv_qp_init_attr* attr) {
  if (pd == nullptr || attr == nullptr) return errno_code(EINVAL);
  const Result<ibv_qp*> qp = provider_of(pd->context).create_qp(pd, attr);
  if (!qp) return qp.error();
  return QueuePair(*qp);
}

Result<void> QueuePair::modify(ibv_qp_attr* attr, int mask) const {
  if (get() == nullptr || attr == nullptr) return errno_code(EINVAL);
  return provider_of(get()->context).modify_qp(get(), attr, mask);
}

Result<QueuePair::Queried> QueuePair::query(int mask) const {
  if (get() == nullptr) return errno_code(EINVAL);
  Queried queried{};
  const Result<void> result =
      provider_of(get()->context).query_qp(get(), &queried.attr, mask, &queried.init);
  if (!result) return result.error();
  return queried;
}

}  // namespace anyrdma::verbs
