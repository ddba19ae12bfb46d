// The interface by which a fault plan makes calls fail, makes requests complete with an error, and
// slows programs down. The functions of the C API and of the devices call it, if it is set.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <string_view>

namespace anyrdma::verbs {

/// A work request that was just posted on a queue pair whose state allows posting.
struct PostedWork {
  /// The queue pair's number among those created on its host, from 1; 0: the request was posted on
  /// a shared receive queue.
  std::uint64_t qp = 0;
  std::uint32_t qp_num = 0;  ///< the queue pair's number (QPN)
  std::uint64_t wr_id = 0;
  ibv_qp_type type = IBV_QPT_RC;
  ibv_wc_opcode opcode = IBV_WC_SEND;  ///< the opcode of the completion that the work leads to
  std::uint64_t length = 0;            ///< bytes of the scatter/gather list
};

/// Decides which calls and requests fail. Implementations must not call back into the library.
class CallGate {
 public:
  virtual ~CallGate() = default;
  /// Called before a valid call takes effect, inside the runtime's critical section. Returns the
  /// errno with which the call fails instead, or 0. `call` is the name of the function without
  /// prefix: "connect", "alloc_pd", "post_send". `id` is the number of the rdma_cm_id, as in
  /// transport::CallObserver; 0: the call is on no id.
  [[nodiscard]] virtual int on_call(std::uint64_t id, std::string_view call) = 0;
  /// Called when a work request was posted, inside the runtime's critical section. Returns the
  /// status with which the request will complete; IBV_WC_SUCCESS lets the request run normally.
  [[nodiscard]] virtual ibv_wc_status on_work(const PostedWork& work) = 0;
  /// Called when the program has polled a completion with an error status, inside the runtime's
  /// critical section.
  virtual void on_failure(const ibv_wc& completion) = 0;
  /// Called before the program fetches an event or polls, outside of the runtime's critical
  /// section. A fault that slows the program down waits inside this function.
  virtual void on_take() = 0;
};

}  // namespace anyrdma::verbs
