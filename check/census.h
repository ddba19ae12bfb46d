// Counts of the work that a device's queues hold, as input of the checkers.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>

namespace anyrdma::check {

/// The state of a queue pair and its unfinished work.
struct QpCensus {
  ibv_qp_state state{};
  /// Includes the connection's attributes: PSNs, MTU, the peer's GID and queue pair.
  ibv_qp_attr attr{};
  ibv_gid gid{};  ///< the queue pair's own GID
  std::size_t sends = 0;
  std::size_t signaled_sends = 0;  ///< number of the unfinished sends that are signaled
  std::size_t receives = 0;
  std::size_t sent = 0;      ///< number of completions of sends that the program has not polled
  std::size_t received = 0;  ///< number of completions of receives that the program has not polled

  /// True: one of the queue pair's completion queues is destroyed or has dropped completions.
  bool overrun = false;
  std::size_t timers = 0;  ///< number of armed timers
};

/// The state of a shared receive queue.
struct SrqCensus {
  std::size_t receives = 0;
};

}  // namespace anyrdma::check
