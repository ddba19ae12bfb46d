#include "verbs/queue_pair.h"

#include <cerrno>

namespace anyrdma::verbs {

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

Result<void> QueuePair::post_send(ibv_send_wr* request, ibv_send_wr** bad) const {
  if (get() == nullptr || request == nullptr) return errno_code(EINVAL);
  ibv_send_wr* first_bad = nullptr;
  const int error = ibv_post_send(get(), request, bad != nullptr ? bad : &first_bad);
  if (error != 0) return errno_code(error);
  return {};
}

Result<void> QueuePair::post_recv(ibv_recv_wr* request, ibv_recv_wr** bad) const {
  if (get() == nullptr || request == nullptr) return errno_code(EINVAL);
  ibv_recv_wr* first_bad = nullptr;
  const int error = ibv_post_recv(get(), request, bad != nullptr ? bad : &first_bad);
  if (error != 0) return errno_code(error);
  return {};
}

}  // namespace anyrdma::verbs
