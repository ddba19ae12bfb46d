// The interface by which a fault plan makes calls fail, makes requests complete with an error, and
// slows programs down. The code of the calls asks this interface, if it is set.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <string_view>

namespace anyrdma::verbs {

/// A work request that was just posted on a queue pair whose state allows it.
struct PostedWork {
  std::uint64_t qp = 0;      ///< the n-th queue pair made on its host; 0: a shared receive queue
  std::uint32_t qp_num = 0;  ///< the queue pair's number (QPN)
  std::uint64_t wr_id = 0;
  ibv_qp_type type = IBV_QPT_RC;
  ibv_wc_opcode opcode = IBV_WC_SEND;  ///< the opcode of the completion that the work leads to
  std::uint64_t length = 0;            ///< bytes of the scatter/gather list
  bool invalidates = false;            ///< a SEND that invalidates a key of the peer
};

/// Implementations must not call back into the library.
class CallGate {
 public:
  virtual ~CallGate() = default;
  /// Called before a legal call takes effect: returns the errno with which it fails instead, or 0.
  /// `call` is its name without prefix: "connect", "alloc_pd", "post_send"; `id` is as in
  /// transport::CallObserver, 0 for a call on none. Inside the critical section.
  [[nodiscard]] virtual int on_call(std::uint64_t id, std::string_view call) = 0;
  /// Returns the status with which the work will complete. IBV_WC_SUCCESS changes nothing. Inside
  /// the critical section.
  [[nodiscard]] virtual ibv_wc_status on_work(const PostedWork& work) = 0;
  /// The program has polled a completion with an error status. Inside the critical section.
  virtual void on_failure(const ibv_wc& completion) = 0;
  /// Called before the program fetches an event or polls. A fault that slows the program down waits
  /// here. Outside the critical section.
  virtual void on_take() = 0;
};

}  // namespace anyrdma::verbs
