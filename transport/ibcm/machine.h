// The state machine of a connection, with one small function for each cell of the state table that
// needs one. It sends messages and reports events through the outbox, and waits with the timer
// queue. It changes another connection only where the protocol requires that: a stale connection is
// disconnected.
#pragma once

#include <cstdint>
#include <span>

#include "transport/ibcm/connection.h"
#include "transport/ibcm/messages.h"
#include "transport/ibcm/outbox.h"
#include "transport/ibcm/pool.h"
#include "transport/ibcm/registry.h"
#include "transport/ibcm/state_table.h"

namespace anyrdma::ibcm {

/// The data of an event. Each member names the events that need it.
struct Input {
  Instant now{};
  /// Every received message: the path back to its sender.
  const Path* from = nullptr;
  const wire::Req* req = nullptr;                ///< kReq
  const wire::Mra* mra = nullptr;                ///< kMra
  const wire::Rep* rep = nullptr;                ///< kRep
  const wire::Rej* rej = nullptr;                ///< kRej
  const wire::Dreq* dreq = nullptr;              ///< kDreq
  const wire::SidrReq* sidr_req = nullptr;       ///< kSidrReq
  const wire::SidrRep* sidr_rep = nullptr;       ///< kSidrRep
  const ReqParameters* connect = nullptr;        ///< kSendReq
  const RepParameters* accept = nullptr;         ///< kSendRep
  const SidrReqParameters* resolve = nullptr;    ///< kSendSidrReq
  const SidrRepParameters* answer = nullptr;     ///< kSendSidrRep
  std::uint8_t reason = 0;                       ///< kSendRej
  std::span<const std::uint8_t> private_data{};  ///< kSendRej
};

class Machine {
 public:
  Machine(const AgentConfig& config, Registry& registry, CmTimers& timers, Outbox& outbox)
      : config_(config), registry_(registry), timers_(timers), outbox_(outbox) {}
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Executes the cell of the state table for the connection's state and this event. Returns
  /// success, or the error of a command that the state does not allow. The connection may have been
  /// released on return; its local_id is then 0.
  [[nodiscard]] Result<void> handle(Connection& connection, Event event, const Input& input);
  /// Sends an MRA for the REQ that has created the connection.
  void postpone(const Connection& connection, std::uint8_t exponent);

 private:
  friend struct Cells;
  using Cell = void (Machine::*)(Connection&, const Input&);

  // --- the handshake (machine_connect.cc) -----------------------------------------------------
  void req_in_idle(Connection& c, const Input& in);
  void send_req_in_idle(Connection& c, const Input& in);
  void req_again_in_mra_req_sent(Connection& c, const Input& in);
  void request_taken(Connection& c, const Input& in);
  void request_dropped(Connection& c, const Input& in);
  void mra_in_req_sent(Connection& c, const Input& in);
  void mra_in_rep_sent(Connection& c, const Input& in);
  void rep_awaited(Connection& c, const Input& in);
  void rep_in_mra_rep_sent(Connection& c, const Input& in);
  void rep_in_established(Connection& c, const Input& in);
  void rtu_awaited(Connection& c, const Input& in);
  void notify_rtu_awaited(Connection& c, const Input& in);
  void send_rep(Connection& c, const Input& in);
  void send_rtu(Connection& c, const Input& in);
  void retry_req(Connection& c, const Input& in);
  void retry_rep(Connection& c, const Input& in);

  // --- rejecting, disconnecting, destroying (machine_release.cc) ------------------------------
  void rej_in_handshake(Connection& c, const Input& in);
  void rej_after_rep(Connection& c, const Input& in);
  void send_rej_in_handshake(Connection& c, const Input& in);
  void send_rej_after_rep(Connection& c, const Input& in);
  void dreq_in_connection(Connection& c, const Input& in);
  void dreq_in_timewait(Connection& c, const Input& in);
  void drep_awaited(Connection& c, const Input& in);
  void send_dreq(Connection& c, const Input& in);
  void send_drep(Connection& c, const Input& in);
  void retry_dreq(Connection& c, const Input& in);
  void timewait_over(Connection& c, const Input& in);
  void destroy_quietly(Connection& c, const Input& in);
  void destroy_unanswered(Connection& c, const Input& in);
  void destroy_in_handshake(Connection& c, const Input& in);
  void destroy_in_established(Connection& c, const Input& in);
  void destroy_in_dreq_rcvd(Connection& c, const Input& in);
  void peer_gone_before_our_answer(Connection& c, const Input& in);
  void peer_gone_in_handshake(Connection& c, const Input& in);
  void peer_gone_after_rep(Connection& c, const Input& in);
  void peer_gone_in_established(Connection& c, const Input& in);
  void peer_gone_in_dreq_sent(Connection& c, const Input& in);

  // --- datagram services (machine_datagram.cc) --------------------------------------------------
  void sidr_req_in_idle(Connection& c, const Input& in);
  void send_sidr_req_in_idle(Connection& c, const Input& in);
  void sidr_rep_awaited(Connection& c, const Input& in);
  void send_sidr_rep(Connection& c, const Input& in);
  void retry_sidr_req(Connection& c, const Input& in);
  void reject_sidr_req(Connection& c, const Input& in);

  // --- common ---------------------------------------------------------------------------------

  /// Changes the state of a connection; no other function does so. The state table's row must allow
  /// the new state. Releases the resources that the new state does not have, and starts TIMEWAIT
  /// where the table says so.
  void transition(Connection& c, State to, Instant now);
  void stop_repeating(Connection& c);
  void check_resources(const Connection& c) const;
  void release(Connection& c, Instant now);
  template <class Message>
  void send(const Path& path, const Message& message);
  /// Sends a message, and repeats it until the connection is in a state without retry timer.
  template <class Message>
  void send_until_answered(Connection& c, const Message& message, Instant now);
  /// Repeats the message that waits for an answer. False: it was sent as often as allowed.
  [[nodiscard]] bool send_again(Connection& c, Instant now);
  void stretch_wait(Connection& c, const wire::Mra& mra, Instant now);
  void report_rej(Connection& c, std::uint16_t reason, std::span<const std::uint8_t> data);

  const AgentConfig& config_;
  Registry& registry_;
  CmTimers& timers_;
  Outbox& outbox_;
  /// Messages for connections that wait for an answer; most connections wait for none.
  Pool<Mad> pending_;
  const Row* row_ = nullptr;  ///< the table's row for the event that is handled now
};

template <class Message>
void Machine::send(const Path& path, const Message& message) {
  message.serialize(outbox_.send(path).mad);
}

template <class Message>
void Machine::send_until_answered(Connection& c, const Message& message, Instant now) {
  if (c.pending == nullptr) c.pending = &pending_.take();
  message.serialize(*c.pending);
  outbox_.send(c.path).mad = *c.pending;
  c.retries_left = c.retries_max;
  c.retry_interval = c.response_timeout;
  timers_.arm(c.retry, now + timer_wait(config_.profile, c.retry_interval, WaitStart::kAnyTime));
}

}  // namespace anyrdma::ibcm
