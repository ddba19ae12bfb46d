// The cells of the handshake: REQ, MRA, REP, RTU and their retries.
#include "transport/ibcm/machine.h"

namespace anyrdma::ibcm {

void Machine::req_in_idle(Connection& c, const Input& in) {
  const wire::Req& req = *in.req;
  const ReqParameters parameters = parameters_of(req, *in.from);
  c.remote_id = req.local_comm_id;
  c.remote_guid = req.local_ca_guid;
  c.remote_qpn = req.local_qpn;
  c.remote_psn = req.starting_psn;
  c.transaction_id = req.transaction_id;
  c.path = parameters.path;
  c.path_mtu = req.path_mtu;
  c.responder_resources = req.initiator_depth;
  c.initiator_depth = req.responder_resources;
  c.retry_count = req.retry_count;
  c.rnr_retry_count = req.rnr_retry_count;
  c.ack_timeout = static_cast<std::uint8_t>(parameters.path.packet_lifetime + 1);
  c.response_timeout = from_exponent(req.local_cm_response_timeout);
  c.retries_max = req.max_cm_retries;
  registry_.list_by_peer(c);
  transition(c, State::kReqRcvd, in.now);

  Upcall& upcall = outbox_.upcall(UpcallKind::kReqReceived, c.local_id);
  upcall.service_id = req.service_id;
  upcall.req = parameters;
  upcall.private_data = req.private_data;
}

void Machine::send_req_in_idle(Connection& c, const Input& in) {
  const ReqParameters& parameters = *in.connect;
  c.path = parameters.path;
  c.path_mtu = parameters.path.mtu;
  c.local_qpn = parameters.qpn;
  c.local_psn = parameters.starting_psn;
  c.transaction_id = own_transaction_id(c);
  c.responder_resources = parameters.responder_resources;
  c.initiator_depth = parameters.initiator_depth;
  c.retry_count = parameters.retry_count;
  c.rnr_retry_count = parameters.rnr_retry_count;
  c.ack_timeout = static_cast<std::uint8_t>(parameters.path.packet_lifetime + 1);
  c.response_timeout = 2 * from_exponent(parameters.path.packet_lifetime) +
                       from_exponent(config_.profile.cm_response_timeout);
  c.retries_max = config_.profile.retries_max;
  send_until_answered(c, make_req(c, parameters, config_), in.now);
  transition(c, State::kReqSent, in.now);
}

void Machine::req_again_in_mra_req_sent(Connection& c, const Input& in) {
  send(*in.from, make_mra(c, wire::AnsweredMessage::kReq, config_.profile.mra_service_timeout));
}

void Machine::postpone(const Connection& c, std::uint8_t exponent) {
  send(c.path, make_mra(c, wire::AnsweredMessage::kReq, exponent));
}

void Machine::request_taken(Connection& c, const Input& in) {
  transition(c, State::kMraReqSent, in.now);
}

// Nothing is said, so that the peer's repetition counts as new (cm_destroy_id with ENOMEM).
void Machine::request_dropped(Connection& c, const Input& in) {
  outbox_.drop(DropReason::kBacklogFull, static_cast<std::uint16_t>(wire::Attribute::kReq));
  release(c, in.now);
}

void Machine::mra_in_req_sent(Connection& c, const Input& in) {
  c.mra_id = in.mra->local_comm_id;
  stretch_wait(c, *in.mra, in.now);
  transition(c, State::kMraReqRcvd, in.now);
}

void Machine::mra_in_rep_sent(Connection& c, const Input& in) {
  if (in.mra->message != wire::AnsweredMessage::kRep) {
    outbox_.drop(DropReason::kWrongState, static_cast<std::uint16_t>(wire::Attribute::kMra));
    return;
  }
  stretch_wait(c, *in.mra, in.now);
  transition(c, State::kMraRepRcvd, in.now);
}

// A peer id that another connection has makes the REP a duplicate; a peer QPN that another has
// means that the peer forgot that other one. Neither is told to this connection: its REQ goes on.
void Machine::rep_awaited(Connection& c, const Input& in) {
  const wire::Rep& rep = *in.rep;
  if (registry_.find_by_remote_id(rep.local_comm_id, rep.local_ca_guid) != nullptr) {
    outbox_.drop(DropReason::kDuplicate, static_cast<std::uint16_t>(wire::Attribute::kRep));
    return;
  }
  if (Connection* old = registry_.find_by_remote_qpn(rep.local_qpn, rep.local_ca_guid)) {
    send(*in.from, make_stateless_rej(rep, kRejStaleConnection));
    (void)handle(*old, Event::kStale, in);
    return;
  }
  c.remote_id = rep.local_comm_id;
  c.remote_guid = rep.local_ca_guid;
  c.remote_qpn = rep.local_qpn;
  c.remote_psn = rep.starting_psn;
  c.responder_resources = rep.initiator_depth;
  c.initiator_depth = rep.responder_resources;
  c.rnr_retry_count = rep.rnr_retry_count;
  c.ack_timeout = ack_timeout(rep.target_ack_delay, static_cast<std::uint8_t>(c.ack_timeout - 1));
  registry_.list_by_peer(c);
  transition(c, State::kRepRcvd, in.now);
  transition(c, State::kMraRepSent, in.now);

  Upcall& upcall = outbox_.upcall(UpcallKind::kRepReceived, c.local_id);
  upcall.rep = parameters_of(rep);
  upcall.private_data = rep.private_data;
}

void Machine::rep_in_mra_rep_sent(Connection& c, const Input& in) {
  send(*in.from, make_mra(c, wire::AnsweredMessage::kRep, config_.profile.mra_service_timeout));
}

void Machine::rep_in_established(Connection& c, const Input& in) {
  send(*in.from, make_rtu(c));
}

void Machine::rtu_awaited(Connection& c, const Input& in) {
  transition(c, State::kEstablished, in.now);
  outbox_.upcall(UpcallKind::kRtuReceived, c.local_id);
}

void Machine::notify_rtu_awaited(Connection& c, const Input& in) {
  transition(c, State::kEstablished, in.now);
  outbox_.upcall(UpcallKind::kUserEstablished, c.local_id);
}

void Machine::send_rep(Connection& c, const Input& in) {
  const RepParameters& parameters = *in.accept;
  c.local_qpn = parameters.qpn;
  c.local_psn = parameters.starting_psn;
  c.responder_resources = parameters.responder_resources;
  c.initiator_depth = parameters.initiator_depth;
  send_until_answered(c, make_rep(c, parameters, config_.ca_guid), in.now);
  transition(c, State::kRepSent, in.now);
}

void Machine::send_rtu(Connection& c, const Input& in) {
  send(c.path, make_rtu(c));
  transition(c, State::kEstablished, in.now);
}

void Machine::retry_req(Connection& c, const Input& in) {
  if (send_again(c, in.now)) return;
  transition(c, State::kIdle, in.now);
  outbox_.upcall(UpcallKind::kReqError, c.local_id);
}

void Machine::retry_rep(Connection& c, const Input& in) {
  if (send_again(c, in.now)) return;
  transition(c, State::kIdle, in.now);
  outbox_.upcall(UpcallKind::kRepError, c.local_id);
}

}  // namespace anyrdma::ibcm
