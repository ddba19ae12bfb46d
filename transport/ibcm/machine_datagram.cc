// The cells of service resolution: SIDR_REQ and SIDR_REP. One question, one answer; there is no
// MRA, and nothing is left of it afterwards (cm.c:ib_send_cm_sidr_req).
#include "transport/ibcm/machine.h"

namespace anyrdma::ibcm {

void Machine::sidr_req_in_idle(Connection& c, const Input& in) {
  const wire::SidrReq& request = *in.sidr_req;
  c.remote_id = request.request_id;
  c.transaction_id = request.transaction_id;
  c.service_id = request.service_id;
  c.path = *in.from;
  registry_.list_by_request(c);
  transition(c, State::kSidrReqRcvd, in.now);

  Upcall& upcall = outbox_.upcall(UpcallKind::kSidrReqReceived, c.local_id);
  upcall.service_id = request.service_id;
  upcall.req.service_id = request.service_id;
  upcall.req.path = c.path;
  upcall.req.private_data = request.private_data;
  upcall.private_data = request.private_data;
}

void Machine::send_sidr_req_in_idle(Connection& c, const Input& in) {
  const SidrReqParameters& parameters = *in.resolve;
  c.path = parameters.path;
  c.transaction_id = own_transaction_id(c);
  c.response_timeout = from_exponent(config_.profile.cm_response_timeout);
  c.retries_max = config_.profile.retries_max;
  send_until_answered(c, make_sidr_req(c, parameters), in.now);
  transition(c, State::kSidrReqSent, in.now);
}

void Machine::sidr_rep_awaited(Connection& c, const Input& in) {
  transition(c, State::kIdle, in.now);
  Upcall& upcall = outbox_.upcall(UpcallKind::kSidrRepReceived, c.local_id);
  upcall.sidr = parameters_of(*in.sidr_rep);
  upcall.private_data = in.sidr_rep->private_data;
}

void Machine::send_sidr_rep(Connection& c, const Input& in) {
  send(c.path, make_sidr_rep(c, *in.answer));
  transition(c, State::kIdle, in.now);
}

void Machine::retry_sidr_req(Connection& c, const Input& in) {
  if (send_again(c, in.now)) return;
  transition(c, State::kIdle, in.now);
  outbox_.upcall(UpcallKind::kSidrReqError, c.local_id);
}

void Machine::reject_sidr_req(Connection& c, const Input& in) {
  send(c.path, make_sidr_rep(c, {.status = kSidrReject}));
  release(c, in.now);
}

}  // namespace anyrdma::ibcm
