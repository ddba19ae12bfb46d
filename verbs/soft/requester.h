// The sending half of a connection: it turns send work requests into packets, and acknowledgements
// into completions (IBTA vol 1, 9.7.5 and 9.7.6). If the service has no acknowledgements, a request
// is complete as soon as it is sent (9.8.2).
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <span>

#include "verbs/soft/core.h"
#include "verbs/soft/memory_table.h"
#include "verbs/soft/packet.h"
#include "verbs/soft/ring.h"
#include "verbs/soft/wire/headers.h"
#include "verbs/soft/work_queue.h"
#include "verbs/time.h"
#include "verbs/wire/ids.h"

namespace anyrdma::verbs::soft {

/// The requester of one queue pair; owned by its SoftQp. The device takes packets one by one with
/// next_packet(), so that a message of any length needs memory for one packet only. Used inside the
/// runtime's critical section.
class Requester {
 public:
  explicit Requester(SoftQp& qp);

  /// Makes an empty send queue with the QP's capabilities.
  void configure();
  /// Starts the requester when the QP goes from RTR to RTS. The QP's attributes are set before.
  void start();
  /// Copies one work request into the send queue. Returns the errno of ibv_post_send, 0 for
  /// success.
  [[nodiscard]] int post(const ibv_send_wr& request);
  /// Checks a request as post() does, but not whether the queue is full. Returns the errno of
  /// ibv_post_send, 0 for success.
  [[nodiscard]] int check(const ibv_send_wr& request) const;
  [[nodiscard]] std::uint32_t room() const { return queue_.room(); }

  /// Makes the request that was posted last complete with this status, after the requests before
  /// it. The request has no effect at the peer. With IBV_WC_REM_ACCESS_ERR, the request is sent
  /// with a key of the peer that is not registered.
  void spoil_last(ibv_wc_status status);

  /// Whether next_packet() would return a packet.
  [[nodiscard]] bool wants_to_send();
  /// Returns the next request packet; null: there is no packet to send now.
  [[nodiscard]] PacketPtr next_packet();

  void on_acknowledge(const roce::Bth& bth, const roce::Aeth& aeth, Instant now);
  void on_read_response(const roce::Envelope& packet, Instant now);
  void on_atomic_acknowledge(wire::Psn psn, std::uint64_t original, Instant now);
  void on_timer(QpTimerKind kind, Instant now);
  /// Reads the source of the next request now.
  void fetch_now();
  /// Ends the requests that wait for the peer, whose process has ended (see Hca::on_peers_gone).
  void on_peer_gone(Instant now);

  /// Completes all requests with a flush error, in order.
  void flush();
  /// Drops all work without completions.
  void discard();
  /// Frees all places of the send queue (WorkQueue::free_places).
  void free_places() { queue_.free_places(); }
  /// Whether every request that was started is complete. For the QP state SQD.
  [[nodiscard]] bool drained() const { return queue_.head() == started_; }
  [[nodiscard]] std::size_t size() const { return queue_.size(); }
  [[nodiscard]] std::size_t signaled() const { return queue_.signaled(); }
  /// Returns how many timers of this requester are armed.
  [[nodiscard]] std::size_t timers() const {
    return (retransmit_.armed() ? 1u : 0u) + (not_ready_.armed() ? 1u : 0u);
  }
  /// Frees buffers of more than `limit` bytes.
  void trim(std::size_t limit) { queue_.trim(limit); }

 private:
  void fill(SendWork& work, const ibv_send_wr& request);

  // --- sending ----------------------------------------------------------------------------------
  [[nodiscard]] bool begin(SendWork& work);
  /// Executes the next work request without packets, if possible (near_path.cc).
  [[nodiscard]] bool run_near(SendWork& work);
  [[nodiscard]] bool ask_near(SendWork& work);
  [[nodiscard]] bool is_one_of_many();
  [[nodiscard]] ibv_wc_status validate(SendWork& work) const;
  [[nodiscard]] PacketPtr make_packet(SendWork& work);
  [[nodiscard]] PacketPtr make_question(SendWork& work);
  [[nodiscard]] PacketPtr make_read_request(SendWork& work);
  [[nodiscard]] PacketPtr make_request(const SendWork& work, std::uint8_t opcode,
                                       std::size_t payload, bool ack_request, bool solicited);
  [[nodiscard]] PacketPtr make_atomic_request(SendWork& work);
  [[nodiscard]] PacketPtr make_atomic_write(SendWork& work);
  [[nodiscard]] bool read_failed(const SendWork& work);
  void load(SendWork& work, std::uint32_t offset, std::uint32_t size, Packet& packet,
            std::size_t at);
  void keep_payloads_before(wire::Psn end);
  void advance(const SendWork& work, std::uint32_t packets);

  // --- work without packets (local_work.cc) ----------------------------------------------------
  void fill_local(SendWork& work, const ibv_send_wr& request);
  void pass_local_work();
  [[nodiscard]] bool carry_out(const SendWork& work);
  void complete_local_work();

  // --- memory (requester_memory.cc) -------------------------------------------------------------
  void choose_fetch(SendWork& work) const;
  [[nodiscard]] bool effects_allow(const SendWork& work) const;
  void blur_target(SendWork& work) const;
  [[nodiscard]] ibv_wc_status place(SendWork& work, std::uint32_t offset,
                                    std::span<const std::uint8_t> data) const;
  void report(const SendWork& work, ibv_wc_status status, const FreedPlaces& frees);
  void describe(ibv_wc& completion, const SendWork& work, ibv_wc_status status) const;

  // --- acknowledgements -------------------------------------------------------------------------
  [[nodiscard]] bool outstanding(wire::Psn psn) const;
  void on_data(WorkKind kind, wire::Psn psn, std::span<const std::uint8_t> data, bool last,
               Instant now);
  [[nodiscard]] bool acknowledge_up_to(wire::Psn end, Instant now);
  void on_nak(roce::NakCode code, wire::Psn psn, Instant now);
  void on_rnr_nak(std::uint8_t delay_field, wire::Psn psn, Instant now);
  void progress_made();
  void after_acknowledgement(Instant now);
  void finish_sent();
  void complete_front(ibv_wc_status status);
  void retry(Instant now);
  void response_lost(Instant now);
  void rewind();
  void fail(ibv_wc_status status);
  void restart_timer(Instant now);

  SoftQp& qp_;
  Core& core_;
  WorkQueue<SendWork> queue_;
  Ring<WindowBinding> bindings_;  // bind requests of queue_ that were not started, in order

  // The next packet that next_packet() will return: packet `packet_` of request `next_`. Requests
  // before `started_` have their PSNs.
  std::uint32_t next_ = 0;
  std::uint32_t started_ = 0;
  std::uint32_t packet_ = 0;  // within work next_
  wire::Psn next_psn_;
  wire::Psn acknowledged_;   // oldest PSN without an acknowledgement; of the front request
  wire::Psn end_;            // first PSN never used
  std::uint32_t reads_ = 0;  // number of READs and ATOMICs that are sent and not complete
  std::uint32_t unrequested_ = 0;
  std::uint8_t retries_left_ = 0;
  std::uint8_t rnr_retries_left_ = 0;
  // Number of polls of the send completion queue at the last small WRITE.
  std::uint32_t polls_seen_ = ~0u;
  bool peer_gone_ = false;  // there will be no answer
  bool waiting_ = false;    // for the RNR timer

  // Whether the requester has noticed that a response was lost. It does not react to further losses
  // before that response arrives.
  bool gap_reported_ = false;
  LentPackets<OfQueue> lent_;  // sent packets with lent payloads, in the order of their PSNs
  QpTimer retransmit_;
  QpTimer not_ready_;
};

}  // namespace anyrdma::verbs::soft
