// The place where a fault plan lets calls fail, requests complete in error and programs become
// slow. Implementations of calls ask it, if there is one.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <string_view>

namespace anyrdma::verbs {

/// Work that was just posted on a queue pair that is able to do it.
struct PostedWork {
  std::uint64_t qp = 0;      ///< the n-th queue pair made on its host; 0: a shared receive queue
  std::uint32_t qp_num = 0;  ///< the same, by number
  std::uint64_t wr_id = 0;
  ibv_qp_type type = IBV_QPT_RC;
  ibv_wc_opcode opcode = IBV_WC_SEND;  ///< of the completion it leads to
  std::uint64_t length = 0;            ///< of its list, in bytes
  bool invalidates = false;            ///< a SEND that names a key of the peer's
};

/// Must not call back.
class CallGate {
 public:
  virtual ~CallGate() = default;
  /// Called before a legal call takes effect: returns the errno with which it fails instead, or 0.
  /// `call` is its name without prefix: "connect", "alloc_pd", "post_send"; `id` is as in
  /// transport::CallObserver, 0 for a call on none. Inside the critical section.
  [[nodiscard]] virtual int on_call(std::uint64_t id, std::string_view call) = 0;
  /// How the work is to end: IBV_WC_SUCCESS leaves it alone. Inside the critical section.
  [[nodiscard]] virtual ibv_wc_status on_work(const PostedWork& work) = 0;
  /// The program was handed the completion of work in error. Inside the critical section.
  virtual void on_failure(const ibv_wc& completion) = 0;
  /// The program is about to take an event or to poll: a slow one takes its time here. Outside of
  /// the critical section.
  virtual void on_take() = 0;
};

}  // namespace anyrdma::verbs
