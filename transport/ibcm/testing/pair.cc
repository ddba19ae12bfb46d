#include "transport/ibcm/testing/pair.h"

#include <algorithm>

#include "transport/ibcm/names.h"
#include "verbs/assert.h"

namespace anyrdma::ibcm::testing {
namespace {

constexpr std::array<std::uint8_t, 16> gid_of(std::uint8_t host) {
  return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 9, 0, host};
}

AgentConfig config_of(std::uint8_t host, const Profile& profile) {
  return {.profile = profile, .ca_guid = Guid{0x505400fffe000000u | host}};
}

}  // namespace

std::uint64_t TestRandom::next() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

Host::Host(std::uint8_t number, AgentConfig config)
    : random_(number), agent_(Agent::create(config, random_)) {}

State Host::state(CommId id) const {
  const auto info = agent_->info(id);
  CM_ASSERT(info.has_value());
  return info->state;
}

const Heard& Host::last(UpcallKind kind) const {
  const auto found = std::find_if(heard.rbegin(), heard.rend(),
                                  [kind](const Heard& each) { return each.kind == kind; });
  if (found != heard.rend()) return *found;
  verbs::assertion_failed("upcall was heard", __FILE__, __LINE__);
}

std::size_t Host::count(UpcallKind kind) const {
  std::size_t n = 0;
  for (const Heard& h : heard) n += h.kind == kind;
  return n;
}

std::string Host::story() const {
  std::string text;
  for (const Heard& h : heard) {
    if (!text.empty()) text += ", ";
    text += to_string(h.kind);
  }
  return text;
}

wire::Attribute InFlight::attribute() const {
  return wire::MadHeader::parse(mad.mad).value().attribute;
}

Pair::Pair(const Profile& profile)
    : client(2, config_of(2, profile)),
      server(1, config_of(1, profile)),
      packet_lifetime_(profile.packet_lifetime) {
  server.agent().listen(kService);
}

ReqParameters Pair::request(std::uint32_t qpn) const {
  ReqParameters parameters;
  parameters.service_id = kService;
  parameters.path.source = gid_of(2);
  parameters.path.destination = gid_of(1);
  parameters.path.mtu = 3;
  parameters.path.packet_lifetime = packet_lifetime_;
  parameters.qpn = Qpn{qpn};
  parameters.starting_psn = Psn(0x313216);
  parameters.responder_resources = 3;
  parameters.initiator_depth = 5;
  return parameters;
}

RepParameters Pair::reply(std::uint32_t qpn) {
  RepParameters parameters;
  parameters.qpn = Qpn{qpn};
  parameters.starting_psn = Psn(0x34cdbf);
  parameters.responder_resources = 1;
  parameters.initiator_depth = 2;
  return parameters;
}

SidrReqParameters Pair::question() const {
  return {.service_id = kService, .path = request().path};
}

SidrRepParameters Pair::answer() {
  return {.qpn = Qpn{0x14}, .qkey = 0x01234567};
}

void Pair::collect() {
  collect(client, 0);
  collect(server, 1);
}

void Pair::collect(Host& host, int number) {
  while (const Action* action = host.agent().next_action()) {
    if (const auto* mad = std::get_if<SendMad>(action)) {
      const InFlight flight{number, *mad};
      sent.push_back({now, number, flight.attribute(), mad->mad});
      if (!passes || passes(flight)) wire_.push_back(flight);
    } else if (const auto* upcall = std::get_if<Upcall>(action)) {
      host.heard.push_back({upcall->kind,
                            upcall->id,
                            *upcall,
                            {upcall->private_data.begin(), upcall->private_data.end()}});
      const bool request =
          upcall->kind == UpcallKind::kReqReceived || upcall->kind == UpcallKind::kSidrReqReceived;
      if (request && host.takes_requests) host.agent().request_handled(upcall->id, true);
    } else {
      host.dropped.push_back(std::get<Dropped>(*action));
    }
    host.agent().pop_action();
  }
}

bool Pair::deliver_one() {
  collect();
  if (wire_.empty()) return false;
  const InFlight flight = wire_.front();
  wire_.pop_front();
  inject(flight.from == 0 ? server : client, flight.mad.mad);
  return true;
}

void Pair::settle() {
  constexpr int kLivelock = 10000;
  for (int steps = 0; deliver_one(); ++steps) CM_ASSERT(steps < kLivelock);
}

void Pair::advance(Duration duration) {
  const Instant end = now + duration;
  settle();
  while (true) {
    const auto next =
        verbs::earlier(client.agent().next_deadline(), server.agent().next_deadline());
    if (!next || *next > end) break;
    now = *next;
    client.agent().on_timer(now);
    server.agent().on_timer(now);
    settle();
  }
  now = end;
}

void Pair::inject(Host& to, std::span<const std::uint8_t, kMadBytes> bytes) {
  const bool to_client = &to == &client;
  Path path;
  path.source = gid_of(to_client ? 2 : 1);
  path.destination = gid_of(to_client ? 1 : 2);
  to.agent().on_mad(now, path, bytes);
  collect();
}

std::size_t Pair::count(wire::Attribute attribute) const {
  std::size_t n = 0;
  for (const Sent& s : sent) n += s.attribute == attribute;
  return n;
}

const Pair::Sent& Pair::last(wire::Attribute attribute) const {
  const auto found = std::find_if(sent.rbegin(), sent.rend(), [attribute](const Sent& each) {
    return each.attribute == attribute;
  });
  if (found != sent.rend()) return *found;
  verbs::assertion_failed("message was sent", __FILE__, __LINE__);
}

CommId Pair::connect(std::uint32_t qpn) {
  client_id = client.agent().connect(now, request(qpn)).value();
  settle();
  return client_id;
}

CommId Pair::ask() {
  client_id = client.agent().send_sidr_req(now, question()).value();
  settle();
  return client_id;
}

CommId Pair::accept(std::uint32_t qpn) {
  server_id = server.last(UpcallKind::kReqReceived).id;
  server.agent().send_rep(now, server_id, reply(qpn)).value();
  settle();
  return server_id;
}

void Pair::establish() {
  client.agent().send_rtu(now, client_id).value();
  settle();
}

void Pair::connected(std::uint32_t client_qpn, std::uint32_t server_qpn) {
  connect(client_qpn);
  accept(server_qpn);
  establish();
}

}  // namespace anyrdma::ibcm::testing
