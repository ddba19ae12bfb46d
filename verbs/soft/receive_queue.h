// The receive requests of a queue pair: those of its own receive queue, or those that it takes one
// by one from a shared receive queue.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <span>

#include "verbs/soft/core.h"
#include "verbs/soft/work_queue.h"

namespace anyrdma::verbs::soft {

/// The receive queue of one queue pair; owned by its SoftQp. A message is written to the memory of
/// the oldest request; complete() removes that request. Used inside the runtime's critical section.
class ReceiveQueue {
 public:
  explicit ReceiveQueue(SoftQp& qp) : qp_(qp) {}

  /// Makes an empty queue for the QP's capabilities. If the QP uses a shared receive queue, the
  /// queue has one slot.
  void configure();
  /// Posts a receive. Returns the errno of ibv_post_recv, 0 for success.
  [[nodiscard]] int post(const ibv_recv_wr& request);

  /// Makes the receive that was posted last fail with this status when a message arrives (see
  /// soft::spoil).
  void spoil_last(ibv_wc_status status) { spoil(queue_[queue_.tail() - 1], status); }

  /// Sets the shared receive queue from which the next message takes its receive. For extended
  /// connections (XRC).
  void draw_from(SoftSrq& source) { source_ = &source; }
  [[nodiscard]] const SoftSrq* source() const { return source_; }
  /// Removes the reference to the shared queue, and the receives that were taken from it.
  void let_go();

  /// Whether a receive request is available. If necessary, takes one from the shared queue.
  [[nodiscard]] bool ready() { return !queue_.empty() || take_shared(); }
  [[nodiscard]] bool empty() const { return queue_.empty(); }
  [[nodiscard]] std::size_t size() const { return queue_.size(); }
  /// Copies a part of the message to the memory of the oldest request, like scatter().
  [[nodiscard]] ibv_wc_status fill(std::uint64_t offset, std::span<const std::uint8_t> payload);
  /// Removes the oldest request and appends its completion to the completion queue. The function
  /// fills in wr_id and qp_num of `completion`.
  void complete(ibv_wc& completion, bool solicited);

  /// Completes all receives with a flush error, in order. `first`: the status of the oldest one.
  void flush(ibv_wc_status first = IBV_WC_WR_FLUSH_ERR);
  /// Drops all receives without completions.
  void discard();
  /// Frees all places of the QP's own receive queue (WorkQueue::free_places).
  void free_places() { queue_.free_places(); }
  void trim(std::size_t limit) { queue_.trim(limit); }

 private:
  [[nodiscard]] bool take_shared();

  SoftQp& qp_;
  WorkQueue<ReceiveWork> queue_;
  FreedPlaces drawn_;          // what the receive frees that was taken from the shared queue
  SoftSrq* source_ = nullptr;  // null: receives are the QP's own, or not chosen yet
};

}  // namespace anyrdma::verbs::soft
