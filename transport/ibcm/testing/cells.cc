#include "transport/ibcm/testing/cells.h"

#include "transport/ibcm/names.h"
#include "transport/ibcm/wire/drep.h"
#include "transport/ibcm/wire/dreq.h"
#include "transport/ibcm/wire/mra.h"
#include "transport/ibcm/wire/rej.h"
#include "transport/ibcm/wire/rep.h"
#include "transport/ibcm/wire/req.h"
#include "transport/ibcm/wire/rtu.h"
#include "transport/ibcm/wire/sidr_rep.h"
#include "transport/ibcm/wire/sidr_req.h"
#include "verbs/assert.h"

namespace anyrdma::ibcm::testing {
namespace {

using wire::Attribute;

constexpr Guid kServerGuid{0x505400fffe000001u};
constexpr Guid kClientGuid{0x505400fffe000002u};
constexpr Qpn kClientQpn{0x12};
constexpr Qpn kServerQpn{0x11};
constexpr CommId kUnknownServerId{0x77777777};

void lose_everything(Pair& pair) {
  pair.passes = [](const InFlight&) { return false; };
}

Subject client_of(std::unique_ptr<Pair> pair) {
  Host* host = &pair->client;
  const CommId id = pair->client_id;
  const bool known = pair->server.count(UpcallKind::kReqReceived) > 0;
  const CommId peer = known ? pair->server.last(UpcallKind::kReqReceived).id : kUnknownServerId;
  return {std::move(pair), host, id, peer, kClientQpn, kServerQpn, kServerGuid};
}

Subject server_of(std::unique_ptr<Pair> pair, UpcallKind request = UpcallKind::kReqReceived) {
  Host* host = &pair->server;
  const CommId id = pair->server.last(request).id;
  const CommId peer = pair->client_id;
  return {std::move(pair), host, id, peer, kServerQpn, kClientQpn, kClientGuid};
}

/// A server that has not replied has named no QP of its own.
Subject before_its_qp(Subject subject) {
  subject.own_qpn = Qpn{};
  return subject;
}

void until_next_timer(Pair& pair) {
  const auto next =
      verbs::earlier(pair.client.agent().next_deadline(), pair.server.agent().next_deadline());
  pair.advance(*next - pair.now);
}

/// A request that the client takes back.
Subject reach_idle(std::unique_ptr<Pair> pair) {
  pair->connect();
  pair->client.agent().destroy(pair->now, pair->client_id);
  pair->settle();
  return before_its_qp(server_of(std::move(pair)));
}

Subject reach_requesting(std::unique_ptr<Pair> pair, State state) {
  if (state == State::kReqSent) lose_everything(*pair);
  pair->connect();
  if (state == State::kMraReqRcvd) until_next_timer(*pair);
  return client_of(std::move(pair));
}

Subject reach_requested(std::unique_ptr<Pair> pair, State state) {
  pair->server.takes_requests = state == State::kMraReqSent;
  pair->connect();
  return before_its_qp(server_of(std::move(pair)));
}

Subject reach_replied(std::unique_ptr<Pair> pair, State state) {
  pair->connect();
  pair->accept();
  if (state == State::kMraRepSent) return client_of(std::move(pair));
  if (state == State::kMraRepRcvd) until_next_timer(*pair);
  return server_of(std::move(pair));
}

Subject reach_released(std::unique_ptr<Pair> pair, State state) {
  pair->connected();
  if (state == State::kEstablished) return server_of(std::move(pair));
  if (state == State::kDreqSent) {
    lose_everything(*pair);
    pair->server.agent().send_dreq(pair->now, pair->server_id).value();
    pair->settle();
    return server_of(std::move(pair));
  }
  pair->client.agent().send_dreq(pair->now, pair->client_id).value();
  pair->settle();
  if (state == State::kTimewait) {
    pair->server.agent().send_drep(pair->now, pair->server_id).value();
    pair->settle();
  }
  return server_of(std::move(pair));
}

Subject reach_asking(std::unique_ptr<Pair> pair, State state) {
  if (state == State::kSidrReqSent) lose_everything(*pair);
  pair->ask();
  if (state == State::kSidrReqSent) return client_of(std::move(pair));
  return before_its_qp(server_of(std::move(pair), UpcallKind::kSidrReqReceived));
}

Subject reach_by_messages(State state, std::unique_ptr<Pair> pair) {
  switch (state) {
    case State::kIdle:
      return reach_idle(std::move(pair));
    case State::kReqSent:
    case State::kMraReqRcvd:
      return reach_requesting(std::move(pair), state);
    case State::kReqRcvd:
    case State::kMraReqSent:
      return reach_requested(std::move(pair), state);
    case State::kRepSent:
    case State::kMraRepSent:
    case State::kMraRepRcvd:
      return reach_replied(std::move(pair), state);
    case State::kEstablished:
    case State::kDreqSent:
    case State::kDreqRcvd:
    case State::kTimewait:
      return reach_released(std::move(pair), state);
    case State::kSidrReqSent:
    case State::kSidrReqRcvd:
      return reach_asking(std::move(pair), state);
    case State::kListen:
    case State::kRepRcvd:
      break;
  }
  verbs::assertion_failed("a connection can rest in this state", __FILE__, __LINE__);
}

wire::Req request_of_peer(const Subject& s, CommId local_id) {
  return {.transaction_id = 1,
          .local_comm_id = local_id,
          .service_id = Pair::kService,
          .local_ca_guid = s.peer_guid,
          .local_qpn = s.peer_qpn,
          .path_mtu = 3};
}

template <class Message>
Mad bytes_of(const Message& message) {
  Mad mad;
  message.serialize(mad);
  return mad;
}

Result<void> command(Subject& s, Event event) {
  Agent& agent = s.host->agent();
  const Instant now = s.pair->now;
  switch (event) {
    case Event::kRequestTaken:
      agent.request_handled(s.id, true);
      return {};
    case Event::kRequestDropped:
      agent.request_handled(s.id, false);
      return {};
    case Event::kSendRep:
      return agent.send_rep(now, s.id, Pair::reply());
    case Event::kSendRtu:
      return agent.send_rtu(now, s.id);
    case Event::kSendRej:
      return agent.send_rej(now, s.id, kRejConsumerDefined, {});
    case Event::kSendDreq:
      return agent.send_dreq(now, s.id);
    case Event::kSendDrep:
      return agent.send_drep(now, s.id);
    case Event::kSendSidrRep:
      return agent.send_sidr_rep(now, s.id, Pair::answer());
    case Event::kNotify:
      return agent.notify_established(now, s.id);
    case Event::kDestroy:
      agent.destroy(now, s.id);
      return {};
    case Event::kRetryTimer:
    case Event::kTimewaitTimer:
      agent.on_timer(*agent.next_deadline());
      return {};
    case Event::kPeerGone:
      agent.on_peer_gone(now, value(s.peer_id), 0xffffffff, {});
      return {};
    case Event::kReq:
    case Event::kReqDuplicate:
    case Event::kStale:
    case Event::kMra:
    case Event::kRep:
    case Event::kRtu:
    case Event::kRej:
    case Event::kDreq:
    case Event::kDrep:
    case Event::kSidrReq:
    case Event::kSidrReqDuplicate:
    case Event::kSidrRep:
      s.pair->inject(*s.host, message_of_peer(s, event));
      return {};
    case Event::kSendReq:
    case Event::kSendSidrReq:
      break;
  }
  verbs::assertion_failed("event can be provoked", __FILE__, __LINE__);
}

template <class T, class Name>
std::string join(const std::vector<T>& values, Name name) {
  std::string text;
  for (const T& value : values) {
    if (!text.empty()) text += ", ";
    text += name(value);
  }
  return text;
}

/// The events that make a connection happen to one that does not exist yet.
Observation provoke_first(Event event) {
  const bool connected = event == Event::kReq || event == Event::kSendReq;
  const bool active = event == Event::kSendReq || event == Event::kSendSidrReq;
  auto pair = std::make_unique<Pair>();
  pair->server.takes_requests = false;
  if (active) lose_everything(*pair);
  connected ? pair->connect() : pair->ask();
  const Subject s = active ? client_of(std::move(pair))
                           : server_of(std::move(pair), connected ? UpcallKind::kReqReceived
                                                                  : UpcallKind::kSidrReqReceived);
  Observation seen;
  seen.state = s.host->state(s.id);
  for (const Heard& h : s.host->heard) seen.heard.push_back(h.kind);
  if (active) seen.sent.push_back(connected ? Attribute::kReq : Attribute::kSidrReq);
  return seen;
}

std::string describe_cell(const Row& row) {
  Observation seen;
  if (makes_a_connection(row.event)) {
    seen = provoke_first(row.event);
  } else {
    Subject subject = reach(row.from);
    seen = provoke(subject, row.event);
  }
  std::string outcome = seen.state ? std::string(to_string(*seen.state)) : "(gone)";
  if (seen.state == row.from) outcome = "–";
  if (seen.error != 0) outcome = seen.error == EISCONN ? "EISCONN" : "EINVAL";
  const std::string sends = join(seen.sent, name_of);
  const std::string hears = join(seen.heard, [](UpcallKind kind) { return to_string(kind); });
  const std::string drops = join(seen.dropped, [](DropReason drop) { return to_string(drop); });
  return "| " + std::string(to_string(row.event)) + " | " + outcome + " | " + sends + " | " +
         hears + " | " + drops + " |\n";
}

constexpr std::string_view kPageHead =
    "# The CM's connection states, cell by cell\n"
    "\n"
    "Generated: `bazel run //transport/ibcm:write_states > docs/ibcm-states.md`; a test compares.\n"
    "Every line was played: a connection was brought into the state by messages, then the event\n"
    "happened. Pairs that cannot happen are left out; `transport/ibcm/state_table.h` has them "
    "all.\n"
    "REJ carries reason 28 here (reason 10 ends in TIMEWAIT), and a retry is not the last one.\n";

}  // namespace

bool makes_a_connection(Event event) {
  return event == Event::kReq || event == Event::kSendReq || event == Event::kSidrReq ||
         event == Event::kSendSidrReq;
}

bool can_rest_in(State state) {
  return state != State::kListen && state != State::kRepRcvd;
}

Subject reach(State state, const Profile& profile) {
  Subject subject = reach_by_messages(state, std::make_unique<Pair>(profile));
  CM_ASSERT(subject.host->state(subject.id) == state);
  return subject;
}

Mad message_of_peer(const Subject& s, Event event) {
  const auto info = s.host->agent().info(s.id);
  // Whose peer has named neither QP nor id cannot be named by it either.
  const bool first = !info || (info->remote_qpn == Qpn{} && info->state != State::kSidrReqRcvd);
  switch (event) {
    case Event::kReqDuplicate:
      return bytes_of(request_of_peer(s, s.peer_id));
    case Event::kReq:
    case Event::kStale:
      return bytes_of(request_of_peer(s, CommId{0x12345678}));
    case Event::kMra:
      return bytes_of(
          wire::Mra{.local_comm_id = s.peer_id,
                    .remote_comm_id = s.id,
                    .message = first ? wire::AnsweredMessage::kReq : wire::AnsweredMessage::kRep,
                    .service_timeout = 24});
    case Event::kRep:
      return bytes_of(wire::Rep{.local_comm_id = s.peer_id,
                                .remote_comm_id = s.id,
                                .local_qpn = s.peer_qpn,
                                .local_ca_guid = s.peer_guid});
    case Event::kRtu:
      return bytes_of(wire::Rtu{.local_comm_id = s.peer_id, .remote_comm_id = s.id});
    case Event::kRej:
      return bytes_of(
          wire::Rej{.local_comm_id = s.peer_id,
                    .remote_comm_id = s.id,
                    .message = first ? wire::AnsweredMessage::kReq : wire::AnsweredMessage::kOther,
                    .reason = kRejConsumerDefined});
    case Event::kDreq:
      return bytes_of(
          wire::Dreq{.local_comm_id = s.peer_id, .remote_comm_id = s.id, .remote_qpn = s.own_qpn});
    case Event::kDrep:
      return bytes_of(wire::Drep{.local_comm_id = s.peer_id, .remote_comm_id = s.id});
    case Event::kSidrReq:
      return bytes_of(
          wire::SidrReq{.request_id = CommId{0x12345678}, .service_id = Pair::kService});
    case Event::kSidrReqDuplicate:
      return bytes_of(wire::SidrReq{.request_id = s.peer_id, .service_id = Pair::kService});
    case Event::kSidrRep:
      return bytes_of(
          wire::SidrRep{.request_id = s.id, .qpn = s.peer_qpn, .service_id = Pair::kService});
    case Event::kSendReq:
    case Event::kRequestTaken:
    case Event::kRequestDropped:
    case Event::kSendRep:
    case Event::kSendRtu:
    case Event::kSendRej:
    case Event::kSendDreq:
    case Event::kSendDrep:
    case Event::kSendSidrReq:
    case Event::kSendSidrRep:
    case Event::kNotify:
    case Event::kDestroy:
    case Event::kRetryTimer:
    case Event::kTimewaitTimer:
    case Event::kPeerGone:
      break;
  }
  verbs::assertion_failed("event is a message", __FILE__, __LINE__);
}

Observation provoke(Subject& s, Event event) {
  Pair& pair = *s.pair;
  lose_everything(pair);
  s.host->heard.clear();
  s.host->dropped.clear();
  pair.sent.clear();

  const Result<void> result = command(s, event);
  pair.collect();

  Observation seen;
  if (const auto info = s.host->agent().info(s.id)) seen.state = info->state;
  for (const Pair::Sent& mad : pair.sent) seen.sent.push_back(mad.attribute);
  for (const Heard& h : s.host->heard) seen.heard.push_back(h.kind);
  for (const Dropped& d : s.host->dropped) seen.dropped.push_back(d.reason);
  if (!result) seen.error = result.error().value();
  return seen;
}

std::string_view name_of(Attribute attribute) {
  switch (attribute) {
    case Attribute::kReq:
      return "REQ";
    case Attribute::kMra:
      return "MRA";
    case Attribute::kRej:
      return "REJ";
    case Attribute::kRep:
      return "REP";
    case Attribute::kRtu:
      return "RTU";
    case Attribute::kDreq:
      return "DREQ";
    case Attribute::kDrep:
      return "DREP";
    case Attribute::kSidrReq:
      return "SIDR_REQ";
    case Attribute::kSidrRep:
      return "SIDR_REP";
    case Attribute::kLap:
      return "LAP";
    case Attribute::kApr:
      return "APR";
  }
  return "?";
}

std::string describe_all_cells() {
  std::string page(kPageHead);
  for (const Row& row : kStateTable) {
    if (!can_rest_in(row.from)) continue;
    if (row.event == Event::kReq) {
      page += "\n## " + std::string(to_string(row.from)) + "\n\n";
      page += "| event | becomes | sends | reports | drops as |\n|---|---|---|---|---|\n";
    }
    if (row.verdict != Verdict::kBug) page += describe_cell(row);
  }
  return page;
}

}  // namespace anyrdma::ibcm::testing
