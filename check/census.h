// A device's counts of what its queues hold.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>

namespace anyrdma::check {

/// A queue pair with what it has still to do.
struct QpCensus {
  ibv_qp_state state{};
  ibv_qp_attr attr{};  ///< of it, the connection: PSNs, MTU, the peer's GID and queue pair
  ibv_gid gid{};       ///< its own
  std::size_t sends = 0;
  std::size_t signaled_sends = 0;  ///< of them
  std::size_t receives = 0;
  std::size_t sent = 0;      ///< completions of sends that were not polled
  std::size_t received = 0;  ///< ... of receives
  bool overrun = false;      ///< one of its completion queues is lost, or has lost some
  std::size_t timers = 0;    ///< armed
};

/// A shared receive queue.
struct SrqCensus {
  std::size_t receives = 0;
};

}  // namespace anyrdma::check
