// Queue pairs. What the data path calls is inline: it costs what a C program's call costs.
#pragma once

#include <cerrno>

#include "verbs/handle.h"

namespace anyrdma::verbs {

/// Takes no requests.
extern ibv_qp no_queue_pair;
template <>
[[nodiscard]] constexpr ibv_qp* nobody() {
  return &no_queue_pair;
}

/// Owns an ibv_qp. The completion queues and the protection domain must outlive it.
class QueuePair : public Handle<ibv_qp, &Provider::destroy_qp> {
 public:
  using Handle::Handle;
  /// Writes the granted capabilities back to attr->cap. EINVAL: null argument, or capabilities the
  /// device cannot give; EOPNOTSUPP: a service it does not have; ENOMEM: too many.
  [[nodiscard]] static Result<QueuePair> create(ibv_pd* pd, ibv_qp_init_attr* attr);

  /// EINVAL: the transition or an attribute is not allowed.
  [[nodiscard]] Result<void> modify(ibv_qp_attr* attr, int mask) const;
  /// The result of ibv_query_qp.
  struct Queried {
    ibv_qp_attr attr;
    ibv_qp_init_attr init;
  };
  [[nodiscard]] Result<Queried> query(int mask) const;

  /// Posts a list of requests; null is an empty one. On failure the requests before *bad are
  /// posted; `bad` may be null. EINVAL: wrong state or request; ENOMEM: the queue is full.
  [[nodiscard]] Result<void> post_send(ibv_send_wr* request, ibv_send_wr** bad = nullptr) const {
    ibv_send_wr* first_bad = nullptr;
    const int error = ibv_post_send(object(), request, bad != nullptr ? bad : &first_bad);
    if (error != 0) return errno_code(error);
    return {};
  }
  [[nodiscard]] Result<void> post_recv(ibv_recv_wr* request, ibv_recv_wr** bad = nullptr) const {
    ibv_recv_wr* first_bad = nullptr;
    const int error = ibv_post_recv(object(), request, bad != nullptr ? bad : &first_bad);
    if (error != 0) return errno_code(error);
    return {};
  }
};

}  // namespace anyrdma::verbs
