// Queue pairs. What the data path calls is inline: it costs a C program's call and two comparisons.
#pragma once

#include <cerrno>

#include "verbs/handle.h"

namespace anyrdma::verbs {

/// Owns an ibv_qp. The completion queues and the protection domain must outlive it.
class QueuePair : public Handle<ibv_qp, &Provider::destroy_qp> {
 public:
  using Handle::Handle;
  /// Writes the granted capabilities back to attr->cap. EINVAL: null argument, or capabilities the
  /// device cannot give; EOPNOTSUPP: a service it does not have; ENOMEM: too many.
  [[nodiscard]] static Result<QueuePair> create(ibv_pd* pd, ibv_qp_init_attr* attr);

  /// EINVAL: the transition or an attribute is not allowed.
  [[nodiscard]] Result<void> modify(ibv_qp_attr* attr, int mask) const;
  struct Queried {
    ibv_qp_attr attr;
    ibv_qp_init_attr init;
  };
  [[nodiscard]] Result<Queried> query(int mask) const;

  /// Posts a list of requests. On failure the requests before *bad are posted; `bad` may be null.
  /// EINVAL: wrong state or request; ENOMEM: the queue is full.
  [[nodiscard]] Result<void> post_send(ibv_send_wr* request, ibv_send_wr** bad = nullptr) const {
    if (get() == nullptr || request == nullptr) return errno_code(EINVAL);
    ibv_send_wr* first_bad = nullptr;
    const int error = ibv_post_send(get(), request, bad != nullptr ? bad : &first_bad);
    if (error != 0) return errno_code(error);
    return {};
  }
  [[nodiscard]] Result<void> post_recv(ibv_recv_wr* request, ibv_recv_wr** bad = nullptr) const {
    if (get() == nullptr || request == nullptr) return errno_code(EINVAL);
    ibv_recv_wr* first_bad = nullptr;
    const int error = ibv_post_recv(get(), request, bad != nullptr ? bad : &first_bad);
    if (error != 0) return errno_code(error);
    return {};
  }
};

}  // namespace anyrdma::verbs
