#include "transport/ibcm/agent.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstring>

#include "transport/ibcm/machine.h"

namespace anyrdma::ibcm {
namespace {

std::uint16_t number_of(wire::Attribute attribute) {
  return static_cast<std::uint16_t>(attribute);
}

/// A REQ of these parameters would be understood (cm_validate_req_param).
bool can_be_sent(const ReqParameters& req) {
  constexpr std::uint8_t kMtuMax = 5;
  constexpr std::uint8_t kUnreliableConnection = 1;
  constexpr std::uint8_t kExponentMax = 31;
  return req.private_data.size() <= wire::kReqPrivateDataSize && req.path.mtu >= 1 &&
         req.path.mtu <= kMtuMax && req.transport_service <= kUnreliableConnection &&
         req.path.packet_lifetime < kExponentMax && req.local_ca_ack_delay <= kExponentMax;
}

class AgentImpl final : public Agent {
 public:
  AgentImpl(const AgentConfig& config, verbs::Random& random, verbs::Runtime* runtime)
      : config_(config),
        registry_({config.id_mask, config.id_tag}, random),
        timers_(runtime == nullptr ? nullptr : &runtime->deadlines_moved()),
        outbox_(runtime),
        machine_(config_, registry_, timers_, outbox_) {}
  ~AgentImpl() override;

  void listen(ServiceId service) override { ++listeners_[value(service)]; }
  void unlisten(ServiceId service) override;

  Result<CommId> connect(Instant now, const ReqParameters& req) override;
  void request_handled(CommId id, bool taken) override;
  void postpone(CommId id, std::uint8_t exponent) override;
  Result<void> send_rep(Instant now, CommId id, const RepParameters& rep) override;
  Result<void> send_rtu(Instant now, CommId id) override {
    return command(id, Event::kSendRtu, {.now = now});
  }
  Result<void> send_rej(Instant now, CommId id, std::uint8_t reason,
                        std::span<const std::uint8_t> private_data) override;
  Result<void> send_dreq(Instant now, CommId id) override {
    return command(id, Event::kSendDreq, {.now = now});
  }
  Result<void> send_drep(Instant now, CommId id) override {
    return command(id, Event::kSendDrep, {.now = now});
  }
  Result<CommId> send_sidr_req(Instant now, const SidrReqParameters& request) override;
  Result<void> send_sidr_rep(Instant now, CommId id, const SidrRepParameters& reply) override;
  Result<void> notify_established(Instant now, CommId id) override {
    return command(id, Event::kNotify, {.now = now});
  }
  void destroy(Instant now, CommId id) override {
    (void)command(id, Event::kDestroy, {.now = now});
  }

  void on_mad(Instant now, const Path& path, std::span<const std::uint8_t, kMadBytes> mad) override;
  void on_timer(Instant now) override;
  void on_peer_gone(Instant now, std::uint32_t peer_id_tag, std::uint32_t peer_id_tag_mask,
                    std::span<const Gid> gids) override;

  const Action* next_action() override { return outbox_.front(); }
  void pop_action() override { outbox_.pop(); }
  std::optional<Instant> next_deadline() const override { return timers_.next_deadline(); }
  std::optional<ConnectionInfo> info(CommId id) const override;

 private:
  Result<void> command(CommId id, Event event, const Input& input);

  /// Parses the message kept in incoming_ and hands it to `receive`, or reports why not.
  template <class Message>
  void parse_and_receive(Input input, void (AgentImpl::*receive)(const Message&, Input&),
                         wire::Attribute attribute);
  void receive_req(const wire::Req& req, Input& input);
  void receive_mra(const wire::Mra& mra, Input& input);
  void receive_rej(const wire::Rej& rej, Input& input);
  void receive_rep(const wire::Rep& rep, Input& input);
  void receive_rtu(const wire::Rtu& rtu, Input& input);
  void receive_dreq(const wire::Dreq& dreq, Input& input);
  void receive_drep(const wire::Drep& drep, Input& input);
  void receive_sidr_req(const wire::SidrReq& request, Input& input);
  void receive_sidr_rep(const wire::SidrRep& reply, Input& input);

  /// The connection whose two ids these are (cm_acquire_id); 0 for one that has no peer yet.
  [[nodiscard]] Connection* find(CommId local, CommId remote) const;
  [[nodiscard]] Connection* find_rejected(const wire::Rej& rej) const;
  /// Hands the message to its connection, or reports that there is none.
  void deliver(Connection* connection, Event event, const Input& input, wire::Attribute attribute);
  /// Makes a connection of a request, if ids are left.
  void admit(Event event, const Input& input, wire::Attribute attribute);
  template <class Message>
  void answer(const Input& input, const Message& message);
  void drop(DropReason reason, wire::Attribute attribute) {
    outbox_.drop(reason, number_of(attribute));
  }

  const AgentConfig config_;
  Registry registry_;
  CmTimers timers_;
  Outbox outbox_;
  Machine machine_;
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> listeners_;
  std::array<std::uint8_t, kMadBytes> incoming_{};  ///< what the views of upcalls look at
};

AgentImpl::~AgentImpl() {
  registry_.for_each([this](Connection& c) {
    timers_.cancel(c.retry);
    timers_.cancel(c.timewait);
  });
}

void AgentImpl::unlisten(ServiceId service) {
  const auto found = listeners_.find(value(service));
  CM_ASSERT(found != listeners_.end());
  if (--found->second == 0) listeners_.erase(found);
}

Result<CommId> AgentImpl::connect(Instant now, const ReqParameters& req) {
  if (!can_be_sent(req)) return verbs::errno_code(EINVAL);
  Connection* c = registry_.create();
  if (c == nullptr) return verbs::errno_code(ENOMEM);
  (void)machine_.handle(*c, Event::kSendReq, {.now = now, .connect = &req});
  return c->local_id;
}

// A request that ended before its user had heard of it is past dropping: it is destroyed instead.
void AgentImpl::request_handled(CommId id, bool taken) {
  Connection* c = registry_.find(id);
  if (c == nullptr) return;
  if (taken) {
    (void)machine_.handle(*c, Event::kRequestTaken, {});
  } else if (c->state == State::kReqRcvd || c->state == State::kSidrReqRcvd) {
    (void)machine_.handle(*c, Event::kRequestDropped, {});
  } else {
    (void)machine_.handle(*c, Event::kDestroy, {});
  }
}

void AgentImpl::postpone(CommId id, std::uint8_t exponent) {
  Connection* c = registry_.find(id);
  if (c != nullptr && c->state == State::kReqRcvd) machine_.postpone(*c, exponent);
}

Result<void> AgentImpl::send_rep(Instant now, CommId id, const RepParameters& rep) {
  if (rep.private_data.size() > wire::kRepPrivateDataSize) return verbs::errno_code(EINVAL);
  return command(id, Event::kSendRep, {.now = now, .accept = &rep});
}

Result<void> AgentImpl::send_rej(Instant now, CommId id, std::uint8_t reason,
                                 std::span<const std::uint8_t> private_data) {
  if (private_data.size() > wire::kRejPrivateDataSize) return verbs::errno_code(EINVAL);
  return command(id, Event::kSendRej, {.now = now, .reason = reason, .private_data = private_data});
}

Result<CommId> AgentImpl::send_sidr_req(Instant now, const SidrReqParameters& request) {
  if (request.private_data.size() > wire::kSidrReqPrivateDataSize) return verbs::errno_code(EINVAL);
  Connection* c = registry_.create();
  if (c == nullptr) return verbs::errno_code(ENOMEM);
  (void)machine_.handle(*c, Event::kSendSidrReq, {.now = now, .resolve = &request});
  return c->local_id;
}

Result<void> AgentImpl::send_sidr_rep(Instant now, CommId id, const SidrRepParameters& reply) {
  if (reply.private_data.size() > wire::kSidrRepPrivateDataSize) return verbs::errno_code(EINVAL);
  return command(id, Event::kSendSidrRep, {.now = now, .answer = &reply});
}

Result<void> AgentImpl::command(CommId id, Event event, const Input& input) {
  Connection* c = registry_.find(id);
  if (c == nullptr) return verbs::errno_code(EINVAL);
  return machine_.handle(*c, event, input);
}

void AgentImpl::on_mad(Instant now, const Path& path,
                       std::span<const std::uint8_t, kMadBytes> mad) {
  std::memcpy(incoming_.data(), mad.data(), mad.size());
  const auto header = wire::MadHeader::parse(incoming_);
  Input input{.now = now, .from = &path};
  if (!header) return drop(DropReason::kMalformed, wire::Attribute{});
  const wire::Attribute attribute = header->attribute;
  switch (attribute) {
    case wire::Attribute::kReq:
      return parse_and_receive(input, &AgentImpl::receive_req, attribute);
    case wire::Attribute::kMra:
      return parse_and_receive(input, &AgentImpl::receive_mra, attribute);
    case wire::Attribute::kRej:
      return parse_and_receive(input, &AgentImpl::receive_rej, attribute);
    case wire::Attribute::kRep:
      return parse_and_receive(input, &AgentImpl::receive_rep, attribute);
    case wire::Attribute::kRtu:
      return parse_and_receive(input, &AgentImpl::receive_rtu, attribute);
    case wire::Attribute::kDreq:
      return parse_and_receive(input, &AgentImpl::receive_dreq, attribute);
    case wire::Attribute::kDrep:
      return parse_and_receive(input, &AgentImpl::receive_drep, attribute);
    case wire::Attribute::kSidrReq:
      return parse_and_receive(input, &AgentImpl::receive_sidr_req, attribute);
    case wire::Attribute::kSidrRep:
      return parse_and_receive(input, &AgentImpl::receive_sidr_rep, attribute);
    case wire::Attribute::kLap:  // no path migration on RoCE (kernel: cm_lap_handler)
    case wire::Attribute::kApr:
      return drop(DropReason::kUnsupported, attribute);
  }
  drop(DropReason::kMalformed, attribute);
}

template <class Message>
void AgentImpl::parse_and_receive(Input input, void (AgentImpl::*receive)(const Message&, Input&),
                                  wire::Attribute attribute) {
  const Result<Message> message = Message::parse(incoming_);
  if (!message) return drop(DropReason::kMalformed, attribute);
  (this->*receive)(*message, input);
}

void AgentImpl::receive_req(const wire::Req& req, Input& input) {
  input.req = &req;
  if (Connection* c = registry_.find_by_remote_id(req.local_comm_id, req.local_ca_guid)) {
    (void)machine_.handle(*c, Event::kReqDuplicate, input);
  } else if (Connection* old = registry_.find_by_remote_qpn(req.local_qpn, req.local_ca_guid)) {
    answer(input, make_stateless_rej(req, kRejStaleConnection));
    (void)machine_.handle(*old, Event::kStale, input);
  } else if (!listeners_.contains(value(req.service_id))) {
    answer(input, make_stateless_rej(req, kRejInvalidServiceId));
  } else {
    admit(Event::kReq, input, wire::Attribute::kReq);
  }
}

void AgentImpl::admit(Event event, const Input& input, wire::Attribute attribute) {
  Connection* c = registry_.create();
  if (c == nullptr) return drop(DropReason::kBacklogFull, attribute);
  (void)machine_.handle(*c, event, input);
}

void AgentImpl::receive_mra(const wire::Mra& mra, Input& input) {
  input.mra = &mra;
  const bool peer_known = mra.message != wire::AnsweredMessage::kReq;
  deliver(find(mra.remote_comm_id, peer_known ? mra.local_comm_id : CommId{}), Event::kMra, input,
          wire::Attribute::kMra);
}

void AgentImpl::receive_rej(const wire::Rej& rej, Input& input) {
  input.rej = &rej;
  deliver(find_rejected(rej), Event::kRej, input, wire::Attribute::kRej);
}

// The first REP comes to a connection without a peer; any later one must come from that peer.
void AgentImpl::receive_rep(const wire::Rep& rep, Input& input) {
  input.rep = &rep;
  Connection* c = find(rep.remote_comm_id, CommId{});
  if (c == nullptr) c = find(rep.remote_comm_id, rep.local_comm_id);
  deliver(c, Event::kRep, input, wire::Attribute::kRep);
}

void AgentImpl::receive_rtu(const wire::Rtu& rtu, Input& input) {
  deliver(find(rtu.remote_comm_id, rtu.local_comm_id), Event::kRtu, input, wire::Attribute::kRtu);
}

void AgentImpl::receive_dreq(const wire::Dreq& dreq, Input& input) {
  input.dreq = &dreq;
  Connection* c = find(dreq.remote_comm_id, dreq.local_comm_id);
  if (c == nullptr) {
    answer(input, make_stateless_drep(dreq));
  } else if (c->local_qpn != dreq.remote_qpn) {
    drop(DropReason::kWrongQpn, wire::Attribute::kDreq);
  } else {
    (void)machine_.handle(*c, Event::kDreq, input);
  }
}

void AgentImpl::receive_drep(const wire::Drep& drep, Input& input) {
  deliver(find(drep.remote_comm_id, drep.local_comm_id), Event::kDrep, input,
          wire::Attribute::kDrep);
}

void AgentImpl::receive_sidr_req(const wire::SidrReq& request, Input& input) {
  input.sidr_req = &request;
  if (Connection* c = registry_.find_by_request(request.request_id, *input.from)) {
    (void)machine_.handle(*c, Event::kSidrReqDuplicate, input);
  } else if (!listeners_.contains(value(request.service_id))) {
    answer(input, make_stateless_sidr_rep(request, kSidrUnsupported));
  } else {
    admit(Event::kSidrReq, input, wire::Attribute::kSidrReq);
  }
}

void AgentImpl::receive_sidr_rep(const wire::SidrRep& reply, Input& input) {
  input.sidr_rep = &reply;
  deliver(registry_.find(reply.request_id), Event::kSidrRep, input, wire::Attribute::kSidrRep);
}

Connection* AgentImpl::find(CommId local, CommId remote) const {
  Connection* c = registry_.find(local);
  return c != nullptr && c->remote_id == remote ? c : nullptr;
}

// A peer that gave up on its REQ does not know our id, so its GUID and its own id identify it
// (section 3.4).
Connection* AgentImpl::find_rejected(const wire::Rej& rej) const {
  if (rej.reason == kRejTimeout)
    return registry_.find_by_remote_id(rej.local_comm_id, guid_of(rej.info));
  const bool peer_known = rej.message != wire::AnsweredMessage::kReq;
  return find(rej.remote_comm_id, peer_known ? rej.local_comm_id : CommId{});
}

void AgentImpl::deliver(Connection* connection, Event event, const Input& input,
                        wire::Attribute attribute) {
  if (connection == nullptr) return drop(DropReason::kUnknownId, attribute);
  (void)machine_.handle(*connection, event, input);
}

template <class Message>
void AgentImpl::answer(const Input& input, const Message& message) {
  message.serialize(outbox_.send(*input.from).mad);
}

void AgentImpl::on_timer(Instant now) {
  while (const CmTimer* timer = timers_.next_expired(now)) {
    const Event event =
        timer->tag().kind == TimerKind::kRetry ? Event::kRetryTimer : Event::kTimewaitTimer;
    (void)machine_.handle(*timer->tag().connection, event, {.now = now});
  }
}

void AgentImpl::on_peer_gone(Instant now, std::uint32_t peer_id_tag, std::uint32_t peer_id_tag_mask,
                             std::span<const Gid> gids) {
  registry_.for_each([&](Connection& c) {
    const CommId peer = c.remote_id != CommId{} ? c.remote_id : c.mra_id;
    if (!gids.empty() && std::ranges::find(gids, c.path.destination) == gids.end()) return;
    if (peer != CommId{} && (value(peer) & peer_id_tag_mask) == peer_id_tag)
      (void)machine_.handle(c, Event::kPeerGone, {.now = now});
  });
}

std::optional<ConnectionInfo> AgentImpl::info(CommId id) const {
  const Connection* c = registry_.find(id);
  if (c == nullptr) return std::nullopt;
  return ConnectionInfo{.state = c->state,
                        .path = c->path,
                        .remote_qpn = c->remote_qpn,
                        .local_psn = c->local_psn,
                        .remote_psn = c->remote_psn,
                        .responder_resources = c->responder_resources,
                        .initiator_depth = c->initiator_depth,
                        .retry_count = c->retry_count,
                        .rnr_retry_count = c->rnr_retry_count,
                        .ack_timeout = c->ack_timeout,
                        .path_mtu = c->path_mtu};
}

}  // namespace

std::unique_ptr<Agent> Agent::create(const AgentConfig& config, verbs::Random& random,
                                     verbs::Runtime* runtime) {
  return std::make_unique<AgentImpl>(config, random, runtime);
}

}  // namespace anyrdma::ibcm
