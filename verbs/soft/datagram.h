// The unreliable datagram service of a queue pair: every message is one packet to the destination
// of its work request, without an answer (IBTA vol 1, 9.8.3).
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

/// A datagram to send. Its gather list or inline data follows in the slot. The path is copied when
/// it is posted: the address handle may go before the packet does.
struct DatagramWork {
  std::uint64_t wr_id;
  PacketPath path;
  std::uint32_t length;
  std::uint32_t queue_key;
  wire::Qpn destination;
  __be32 immediate;
  ibv_wc_status status;  ///< an error found when it was posted
  std::uint8_t sge_count;
  std::uint8_t fetch;  ///< see DelayedEffects
  bool with_immediate : 1;
  bool signaled : 1;
  bool solicited : 1;
  bool inline_data : 1;

  [[nodiscard]] ibv_sge* list() { return reinterpret_cast<ibv_sge*>(this + 1); }
  [[nodiscard]] std::uint8_t* data() { return reinterpret_cast<std::uint8_t*>(this + 1); }
};

/// Owned by its SoftQp. Used inside the critical section.
class DatagramService {
 public:
  explicit DatagramService(SoftQp& qp) : qp_(qp) {}

  /// An empty send queue of the QP's capabilities.
  void configure();
  /// RTR to RTS: the attributes are in place.
  void start();
  /// Errno as ibv_post_send returns it, 0 for success.
  [[nodiscard]] int post(const ibv_send_wr& request);
  /// The result of post() if the queue is not full.
  [[nodiscard]] int check(const ibv_send_wr& request) const;
  [[nodiscard]] std::uint32_t room() const { return queue_.room(); }

  /// The datagram posted last is not sent and ends with this status.
  void spoil_last(ibv_wc_status status) { queue_[queue_.tail() - 1].status = status; }

  [[nodiscard]] std::size_t size() const { return queue_.size(); }
  [[nodiscard]] std::size_t signaled() const { return queue_.signaled(); }
  /// Whether next_packet() would do anything.
  [[nodiscard]] bool wants_to_send();
  /// The source of the oldest request is read now.
  void fetch_now() {
    if (!queue_.empty()) queue_.front().fetch = 0;
  }
  /// Where the oldest request is to go. There must be one.
  [[nodiscard]] wire::Qpn next_destination() { return queue_.front().destination; }
  /// Ends the oldest request and gives its packet; null when that has none.
  [[nodiscard]] PacketPtr next_packet();

  /// A datagram for this QP or for a group that it is attached to.
  void on_datagram(const roce::Envelope& envelope, const Packet& packet);

  /// Completes all sends with a flush error, in order.
  void flush();
  /// Drops all work without completions.
  void discard() { queue_.clear(); }
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
