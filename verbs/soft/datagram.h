// The unreliable datagram (UD) service of a queue pair: each message is one packet to the
// destination of its work request, without acknowledgement (IBTA vol 1, 9.8.3).
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "verbs/soft/address_handle.h"
#include "verbs/soft/core.h"
#include "verbs/soft/packet.h"
#include "verbs/soft/wire/headers.h"
#include "verbs/soft/work_queue.h"
#include "verbs/wire/ids.h"

namespace anyrdma::verbs::soft {

/// A datagram that waits to be sent. Its gather list or inline data follows in its slot of the send
/// queue. The path is copied when the work is posted, so the address handle may be destroyed before
/// the packet is sent.
struct DatagramWork {
  std::uint64_t wr_id;
  PacketPath path;
  std::uint32_t length;
  std::uint32_t queue_key;
  wire::Qpn destination;
  __be32 immediate;
  ibv_wc_status status;  ///< an error found when it was posted
  std::uint8_t sge_count;
  std::uint8_t fetch;  ///< when the device reads the payload: see DelayedEffects
  bool with_immediate : 1;
  bool signaled : 1;
  bool solicited : 1;
  bool inline_data : 1;

  [[nodiscard]] ibv_sge* list() { return reinterpret_cast<ibv_sge*>(this + 1); }
  [[nodiscard]] std::uint8_t* data() { return reinterpret_cast<std::uint8_t*>(this + 1); }
};

/// The unreliable datagram service of one queue pair; owned by its SoftQp. Used inside the
/// runtime's critical section.
class DatagramService {
 public:
  explicit DatagramService(SoftQp& qp) : qp_(qp) {}

  /// Makes an empty send queue with the QP's capabilities.
  void configure();
  /// Starts the service when the QP goes from RTR to RTS. The QP's attributes are set before.
  void start();
  /// Posts a send. Returns the errno of ibv_post_send, 0 for success.
  [[nodiscard]] int post(const ibv_send_wr& request);
  /// Checks a send as post() does, but not whether the queue is full. Returns the errno of
  /// ibv_post_send, 0 for success.
  [[nodiscard]] int check(const ibv_send_wr& request) const;
  [[nodiscard]] std::uint32_t room() const { return queue_.room(); }

  /// Makes the datagram that was posted last complete with the error `status`. The datagram is not
  /// sent.
  void spoil_last(ibv_wc_status status) { queue_[queue_.tail() - 1].status = status; }

  [[nodiscard]] std::size_t size() const { return queue_.size(); }
  [[nodiscard]] std::size_t signaled() const { return queue_.signaled(); }
  /// Whether next_packet() would do anything.
  [[nodiscard]] bool wants_to_send();
  /// Reads the payload of the oldest request now.
  void fetch_now() {
    if (!queue_.empty()) queue_.front().fetch = 0;
  }
  /// Returns the destination of the oldest request. Precondition: there is one.
  [[nodiscard]] wire::Qpn next_destination() { return queue_.front().destination; }
  /// Removes the oldest request and returns its packet; null: the request sends no packet.
  [[nodiscard]] PacketPtr next_packet();

  /// Processes a datagram that has arrived for this QP, or for a multicast group that the QP is
  /// attached to.
  void on_datagram(const roce::Envelope& envelope, const Packet& packet);

  /// Completes all sends with IBV_WC_WR_FLUSH_ERR, in order.
  void flush();
  /// Drops all work without completions.
  void discard() { queue_.clear(); }
  /// Frees all places of the send queue (WorkQueue::free_places).
  void free_places() { queue_.free_places(); }
  void trim(std::size_t limit) { queue_.trim(limit); }

 private:
  [[nodiscard]] ibv_wc_status attempt(DatagramWork& work, PacketPtr& packet);
  void complete_front(ibv_wc_status status);
  [[nodiscard]] ibv_wc_status receive(const roce::Envelope& envelope, const Packet& packet);

  SoftQp& qp_;
  WorkQueue<DatagramWork> queue_;
  wire::Psn next_psn_;
};

}  // namespace anyrdma::verbs::soft
