// The cells that end something: REJ, DREQ, DREP, timewait, destroy, and a peer that is gone.
#include "transport/ibcm/machine.h"

namespace anyrdma::ibcm {
namespace {

// The private data of a REJ that the program did not send.
constexpr std::array<std::uint8_t, wire::kRejPrivateDataSize> kNoData{};

}  // namespace

void Machine::rej_in_handshake(Connection& c, const Input& in) {
  const bool stale = in.rej->reason == kRejStaleConnection;
  transition(c, stale ? State::kTimewait : State::kIdle, in.now);
  report_rej(c, in.rej->reason, in.rej->private_data);
}

void Machine::rej_after_rep(Connection& c, const Input& in) {
  transition(c, State::kTimewait, in.now);
  report_rej(c, in.rej->reason, in.rej->private_data);
}

void Machine::send_rej_in_handshake(Connection& c, const Input& in) {
  wire::Rej rej = make_rej(c, in.reason);
  rej.private_data = in.private_data;
  send(c.path, rej);
  transition(c, State::kIdle, in.now);
}

void Machine::send_rej_after_rep(Connection& c, const Input& in) {
  wire::Rej rej = make_rej(c, in.reason);
  rej.private_data = in.private_data;
  send(c.path, rej);
  transition(c, State::kTimewait, in.now);
}

void Machine::dreq_in_connection(Connection& c, const Input& in) {
  c.transaction_id = in.dreq->transaction_id;
  transition(c, State::kDreqRcvd, in.now);
  outbox_.upcall(UpcallKind::kDreqReceived, c.local_id);
}

void Machine::dreq_in_timewait(Connection& c, const Input& in) {
  send(*in.from, make_drep(c));
}

void Machine::drep_awaited(Connection& c, const Input& in) {
  transition(c, State::kTimewait, in.now);
  outbox_.upcall(UpcallKind::kDrepReceived, c.local_id);
}

void Machine::send_dreq(Connection& c, const Input& in) {
  send_until_answered(c, make_dreq(c), in.now);
  transition(c, State::kDreqSent, in.now);
}

void Machine::send_drep(Connection& c, const Input& in) {
  send(c.path, make_drep(c));
  transition(c, State::kTimewait, in.now);
}

void Machine::retry_dreq(Connection& c, const Input& in) {
  if (send_again(c, in.now)) return;
  transition(c, State::kTimewait, in.now);
  outbox_.upcall(UpcallKind::kDreqError, c.local_id);
}

void Machine::timewait_over(Connection& c, const Input& in) {
  transition(c, State::kIdle, in.now);
  outbox_.upcall(UpcallKind::kTimewaitExit, c.local_id);
}

void Machine::destroy_quietly(Connection& c, const Input& in) {
  release(c, in.now);
}

// The peer may have made a connection of the REQ: it finds it by our GUID and our comm id.
void Machine::destroy_unanswered(Connection& c, const Input& in) {
  const auto guid = bytes_of(config_.ca_guid);
  wire::Rej rej = make_rej(c, kRejTimeout);
  rej.info = guid;
  send(c.path, rej);
  release(c, in.now);
}

void Machine::destroy_in_handshake(Connection& c, const Input& in) {
  send(c.path, make_rej(c, kRejConsumerDefined));
  release(c, in.now);
}

// Sent once, without a retry: the connection that would get the answer is gone.
void Machine::destroy_in_established(Connection& c, const Input& in) {
  send(c.path, make_dreq(c));
  release(c, in.now);
}

void Machine::destroy_in_dreq_rcvd(Connection& c, const Input& in) {
  send(c.path, make_drep(c));
  release(c, in.now);
}

// The peer was in REQ_SENT or MRA_REQ_RCVD: its kernel would have sent the REJ of destroy.
void Machine::peer_gone_before_our_answer(Connection& c, const Input& in) {
  transition(c, State::kIdle, in.now);
  report_rej(c, kRejTimeout, kNoData);
}

void Machine::peer_gone_in_handshake(Connection& c, const Input& in) {
  transition(c, State::kIdle, in.now);
  report_rej(c, kRejConsumerDefined, kNoData);
}

void Machine::peer_gone_after_rep(Connection& c, const Input& in) {
  transition(c, State::kTimewait, in.now);
  report_rej(c, kRejConsumerDefined, kNoData);
}

void Machine::peer_gone_in_established(Connection& c, const Input& in) {
  transition(c, State::kDreqRcvd, in.now);
  outbox_.upcall(UpcallKind::kDreqReceived, c.local_id);
}

void Machine::peer_gone_in_dreq_sent(Connection& c, const Input& in) {
  transition(c, State::kTimewait, in.now);
  outbox_.upcall(UpcallKind::kDrepReceived, c.local_id);
}

}  // namespace anyrdma::ibcm
