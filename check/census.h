// The counts of what the queues of a device hold, for checkers.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>

namespace anyrdma::check {

/// The state of a queue pair and its unfinished work.
struct QpCensus {
  ibv_qp_state state{};
  ibv_qp_attr attr{};  ///< includes the connection: PSNs, MTU, the peer's GID and queue pair
  ibv_gid gid{};       ///< the queue pair's own GID
  std::size_t sends = 0;
  std::size_t signaled_sends = 0;  ///< of the sends, those that are signaled
  std::size_t receives = 0;
  std::size_t sent = 0;      ///< completions of sends that were not polled
  std::size_t received = 0;  ///< unpolled completions of receives
  bool overrun = false;      ///< one of its completion queues is lost, or has lost some
  std::size_t timers = 0;    ///< armed
};

/// The state of a shared receive queue.
struct SrqCensus {
  std::size_t receives = 0;
};

}  // namespace anyrdma::check
