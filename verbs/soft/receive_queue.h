// A queue pair's receives, its own or taken one by one from the shared receive queue it refers to.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <span>

#include "verbs/soft/core.h"
#include "verbs/soft/work_queue.h"

namespace anyrdma::verbs::soft {

/// Owned by its SoftQp. Used inside the critical section. A message is scattered into the front
/// request; complete() ends that.
class ReceiveQueue {
 public:
  explicit ReceiveQueue(SoftQp& qp) : qp_(qp) {}

  /// An empty queue of the QP's capabilities; one slot where a shared queue feeds it.
  void configure();
  /// Errno as ibv_post_recv returns it, 0 for success.
  [[nodiscard]] int post(const ibv_recv_wr& request);

  /// The receive posted last cannot take a message in: see soft::spoil.
  void spoil_last(ibv_wc_status status) { spoil(queue_[queue_.tail() - 1], status); }

  /// Extended connections: whence the next message takes its receive.
  void draw_from(SoftSrq& source) { source_ = &source; }
  [[nodiscard]] const SoftSrq* source() const { return source_; }
  /// The shared queue and the receives taken from it are destroyed.
  void let_go();

  /// Whether a message can begin. Takes a request from the shared queue if need be.
  [[nodiscard]] bool ready() { return !queue_.empty() || take_shared(); }
  [[nodiscard]] bool empty() const { return queue_.empty(); }
  [[nodiscard]] std::size_t size() const { return queue_.size(); }
  /// Copies a piece of the message into the front request (see scatter()).
  [[nodiscard]] ibv_wc_status fill(std::uint64_t offset, std::span<const std::uint8_t> payload);
  /// Gives the front request back with this completion; sets its wr_id and qp_num.
  void complete(ibv_wc& completion, bool solicited);

  /// Completes all with a flush error, in order.
  void flush();
  void discard() { queue_.clear(); }
  void trim(std::size_t limit) { queue_.trim(limit); }

 private:
  [[nodiscard]] bool take_shared();

  SoftQp& qp_;
  WorkQueue<ReceiveWork> queue_;
  SoftSrq* source_ = nullptr;  // null: receives are the QP's own, or not chosen yet
};

}  // namespace anyrdma::verbs::soft
