// The receive requests of a queue pair: its own, or those that it takes one by one from a shared
// receive queue.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <span>

#include "verbs/soft/core.h"
#include "verbs/soft/work_queue.h"

namespace anyrdma::verbs::soft {

/// Owned by its SoftQp. Used inside the critical section. A message is written to the memory of the
/// oldest request; complete() removes that request.
class ReceiveQueue {
 public:
  explicit ReceiveQueue(SoftQp& qp) : qp_(qp) {}

  /// Makes an empty queue with the QP's capabilities; with a shared receive queue, one slot.
  void configure();
  /// Posts a receive. Returns the errno of ibv_post_recv, 0 for success.
  [[nodiscard]] int post(const ibv_recv_wr& request);

  /// Makes the receive that was posted last fail with this status when a message arrives: see
  /// soft::spoil.
  void spoil_last(ibv_wc_status status) { spoil(queue_[queue_.tail() - 1], status); }

  /// For extended connections: sets the shared receive queue of the next message.
  void draw_from(SoftSrq& source) { source_ = &source; }
  [[nodiscard]] const SoftSrq* source() const { return source_; }
  /// Drops the shared queue and the receives that were taken from it.
  void let_go();

  /// Whether a receive request is available. Takes one from the shared queue if needed.
  [[nodiscard]] bool ready() { return !queue_.empty() || take_shared(); }
  [[nodiscard]] bool empty() const { return queue_.empty(); }
  [[nodiscard]] std::size_t size() const { return queue_.size(); }
  /// Copies a part of the message to the memory of the oldest request (see scatter()).
  [[nodiscard]] ibv_wc_status fill(std::uint64_t offset, std::span<const std::uint8_t> payload);
  /// Removes the oldest request and reports this completion, with wr_id and qp_num filled in.
  void complete(ibv_wc& completion, bool solicited);

  /// Completes all receives with a flush error, in order.
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
