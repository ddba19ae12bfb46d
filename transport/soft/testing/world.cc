#include "transport/soft/testing/world.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace anyrdma::transport::soft::testing {
namespace {

constexpr std::size_t kNetworkBytes = 15;  // of a mapped address: all but the host number

bool same_network(const Address& a, const Address& b) {
  return a.family == b.family &&
         std::equal(a.ip.begin(), a.ip.begin() + kNetworkBytes, b.ip.begin());
}

}  // namespace

Address address_of(int host, int interface, std::uint16_t port) {
  const auto number =
      0x0a090000u + static_cast<std::uint32_t>(interface) * 256 + static_cast<std::uint32_t>(host);
  return Address::ipv4(number, port);
}

void Recorder::on_event(const EndpointEvent& event) {
  events.push_back({event.type,
                    event.status,
                    event.conn,
                    {event.private_data.begin(), event.private_data.end()},
                    event.ud != nullptr ? std::optional(*event.ud) : std::nullopt,
                    event.membership,
                    event.ece});
}

EndpointHandler* Recorder::on_connect_request(std::unique_ptr<Endpoint>& child,
                                              const EndpointEvent& event) {
  if (room <= 0) return nullptr;
  --room;
  on_event(event);
  requests.push_back(std::move(child));
  return child_handler != nullptr ? child_handler : this;
}

std::vector<rdma_cm_event_type> Recorder::types() const {
  std::vector<rdma_cm_event_type> all;
  for (const Seen& seen : events) all.push_back(seen.type);
  return all;
}

Seen Recorder::only(rdma_cm_event_type type) {
  EXPECT_EQ(types(), std::vector{type});
  Seen seen = events.empty() ? Seen{} : events.front();
  events.clear();
  return seen;
}

verbs::Result<Route> FakeNetwork::route(const Address* source, const Address& destination) {
  if (source != nullptr && !interface_of(*source)) return verbs::errno_code(EADDRNOTAVAIL);
  if (cut_off.same_ip(destination)) return verbs::errno_code(ENETUNREACH);
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (!same_network(addresses[i], destination)) continue;
    return Route{.source = source != nullptr ? *source : addresses[i],
                 .destination = destination,
                 .next_hop = destination,
                 .interface = static_cast<int>(i),
                 .local = addresses[i].same_ip(destination)};
  }
  return verbs::errno_code(ENETUNREACH);
}

verbs::Result<int> FakeNetwork::interface_of(const Address& local) {
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (addresses[i].same_ip(local)) return static_cast<int>(i);
  }
  return verbs::errno_code(EADDRNOTAVAIL);
}

void FakeNetwork::resolve_neighbour(NeighbourToken token, const Route& route,
                                    std::chrono::milliseconds timeout) {
  asked.push_back({token, route, timeout});
  if (answer) transport_->on_neighbour(token, *answer);
}

void FakeNetwork::cancel_neighbour(NeighbourToken token) {
  cancelled.push_back(token);
}

void Trace::on_mad_sent(std::string_view, const ibcm::Path&, Mad mad) {
  attributes.push_back(static_cast<std::uint16_t>(mad[16] << 8 | mad[17]));
}

int Trace::sent(std::uint16_t attribute) const {
  return static_cast<int>(std::count(attributes.begin(), attributes.end(), attribute));
}

verbs::Result<void> FakeNetwork::join_group(const Address& local, const Address& group) {
  if (join_error != 0) return verbs::errno_code(join_error);
  groups.emplace_back(local, group);
  return {};
}

void FakeNetwork::leave_group(const Address& local, const Address& group) {
  const auto found = std::find(groups.begin(), groups.end(), std::pair(local, group));
  ASSERT_NE(found, groups.end());
  groups.erase(found);
}

Host::Host(FakeRuntime& runtime, verbs::soft::PacketPool& pool, int host, int interfaces,
           const SoftTransportConfig& config)
    : number(host),
      random(static_cast<std::uint64_t>(host)),
      network(raw),
      ports(random),
      runtime_(runtime),
      pool_(pool) {
  for (int i = 0; i < interfaces; ++i) network.addresses.push_back(address_of(host, i));
  transport = SoftTransport::create(runtime, random, network, ports, config);
  raw = transport.get();
  transport->set_observer(&trace);
}

verbs::soft::Hca& Host::add_device(int interface) {
  verbs::soft::HcaConfig config;
  config.name = "anyrdma" + std::to_string(hcas.size());
  config.node_guid = wire::Guid{0x0200'0000'0000'0000u + static_cast<std::uint64_t>(number) * 256 +
                                static_cast<std::uint64_t>(interface)};
  hcas.push_back(verbs::soft::Hca::create(runtime_, random, pool_, config));
  hcas.back()->set_gid(1, address(interface).gid());
  EXPECT_TRUE(transport->add_device(*hcas.back(), interface));
  return *hcas.back();
}

World::World(const SoftTransportConfig& config_of_b) : b(runtime, pool, 2, 2, config_of_b) {
  a.add_device();
  b.add_device();
}

bool World::carry() {
  bool any = false;
  for (Host* from : {&a, &b}) {
    for (const auto& hca : from->hcas) {
      while (verbs::soft::PacketPtr packet = hca->next_packet()) {
        any = true;
        if (wire && !wire(*packet)) continue;
        verbs::soft::Hca* target = nullptr;
        for (Host* to : {&a, &b}) {
          for (const auto& each : to->hcas) {
            const auto gids = each->gids();
            const bool here = std::any_of(gids.begin(), gids.end(), [&](const ibv_gid& gid) {
              return std::memcmp(&gid, &packet->destination, sizeof gid) == 0;
            });
            if (here && target == nullptr) target = each.get();
          }
        }
        if (target != nullptr) target->on_packet(runtime.time, std::move(packet));
      }
    }
  }
  return any;
}

void World::settle() {
  for (int i = 0; i < 1000; ++i) {
    bool any = a.transport->drain(runtime.time);
    any |= b.transport->drain(runtime.time);
    any |= carry();
    if (!any) return runtime.answer_call();
    EXPECT_TRUE(runtime.driver_called()) << "whoever left this work told nobody";
  }
  FAIL() << "still not at rest";
}

void World::run_until(verbs::Instant until) {
  settle();
  while (true) {
    const auto next = verbs::earlier(a.transport->next_deadline(), b.transport->next_deadline());
    if (!next || *next > until) break;
    runtime.time = *next;
    a.transport->on_timer(*next);
    b.transport->on_timer(*next);
    settle();
  }
  runtime.time = until;
}

std::unique_ptr<Endpoint> World::routed(Host& from, const Address& destination,
                                        rdma_port_space space) {
  auto endpoint = from.endpoint(space);
  route(from, *endpoint, destination);
  return endpoint;
}

void World::route(Host& from, Endpoint& endpoint, const Address& destination) {
  const Sockaddr to(destination);
  EXPECT_TRUE(endpoint.resolve_address(nullptr, to.get(), std::chrono::seconds(2)));
  settle();
  (void)from.events.only(RDMA_CM_EVENT_ADDR_RESOLVED);
  EXPECT_TRUE(endpoint.resolve_route(std::chrono::seconds(2)));
  settle();
  (void)from.events.only(RDMA_CM_EVENT_ROUTE_RESOLVED);
}

std::unique_ptr<Endpoint> World::listener(Host& at, const Address& local, rdma_port_space space) {
  auto endpoint = at.endpoint(space);
  const Sockaddr address(local);
  EXPECT_TRUE(endpoint->bind(address.get()));
  EXPECT_TRUE(endpoint->listen(8));
  return endpoint;
}

}  // namespace anyrdma::transport::soft::testing
