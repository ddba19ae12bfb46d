// The RAII class for queue pairs. The functions of the data path are inline, so that they cost no
// more than the C calls.
#pragma once

#include <cerrno>

#include "verbs/handle.h"

namespace anyrdma::verbs {

/// The queue pair of an empty QueuePair: posting to it fails.
extern ibv_qp no_queue_pair;
template <>
[[nodiscard]] constexpr ibv_qp* nobody() {
  return &no_queue_pair;
}

/// Owns an ibv_qp. The queue pair's completion queues and its protection domain must outlive it.
class QueuePair : public Handle<ibv_qp, &Provider::destroy_qp> {
 public:
  using Handle::Handle;
  /// Creates a queue pair, and writes the granted capabilities to attr->cap. EINVAL: null argument,
  /// or capabilities beyond the device's limits; EOPNOTSUPP: the device does not support the type;
  /// ENOMEM: too many queue pairs.
  [[nodiscard]] static Result<QueuePair> create(ibv_pd* pd, ibv_qp_init_attr* attr);

  /// Changes the state or attributes of the queue pair, as ibv_modify_qp does. EINVAL: the
  /// transition or an attribute is not allowed.
  [[nodiscard]] Result<void> modify(ibv_qp_attr* attr, int mask) const;
  /// The result of ibv_query_qp.
  struct Queried {
    ibv_qp_attr attr;
    ibv_qp_init_attr init;
  };
  [[nodiscard]] Result<Queried> query(int mask) const;

  /// Posts a list of send requests; null is an empty list. On failure, the requests before *bad are
  /// posted; `bad` may be null. EINVAL: the state or a request is not allowed; ENOMEM: the queue is
  /// full.
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
