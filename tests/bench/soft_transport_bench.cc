// What a connection costs in transport/soft: two hosts, from resolve to timewait, both sides, with
// the CM agents and QP1 datagrams but without cm and without queue pairs.
#include <benchmark/benchmark.h>

#include <cstring>
#include <memory>

#include "transport/soft/network.h"
#include "transport/soft/port_table.h"
#include "transport/soft/transport.h"
#include "verbs/soft/hca.h"
#include "verbs/soft/testing/fake_runtime.h"

namespace {

using namespace anyrdma;
using transport::Endpoint;
using transport::EndpointEvent;
using transport::EndpointHandler;
using transport::soft::Address;
using transport::soft::Route;

constexpr std::uint16_t kPort = 7471;

/// One interface; the only other host is next door.
class TinyNetwork final : public transport::soft::Network {
 public:
  explicit TinyNetwork(Address own) : own_(own) {}
  verbs::Result<Route> route(const Address*, const Address& to) override {
    return Route{.source = own_, .destination = to, .next_hop = to, .interface = 0, .local = false};
  }
  verbs::Result<int> interface_of(const Address&) override { return 0; }
  void resolve_neighbour(transport::soft::NeighbourToken token, const Route&,
                         std::chrono::milliseconds) override {
    transport->on_neighbour(token, 0);
  }
  void cancel_neighbour(transport::soft::NeighbourToken) override {}

  transport::soft::SoftTransport* transport = nullptr;

 private:
  Address own_;
};

struct Counter final : EndpointHandler {
  void on_event(const EndpointEvent&) override { ++events; }
  EndpointHandler* on_connect_request(std::unique_ptr<Endpoint>& child,
                                      const EndpointEvent&) override {
    request = std::move(child);
    return this;
  }
  std::unique_ptr<Endpoint> request;
  std::uint64_t events = 0;
};

struct Host {
  Host(verbs::soft::testing::FakeRuntime& runtime, verbs::soft::PacketPool& pool, std::uint32_t ip)
      : address(Address::ipv4(ip, kPort)), random(ip), network(address), ports(random) {
    verbs::soft::HcaConfig config;
    config.node_guid = wire::Guid{ip};
    hca = verbs::soft::Hca::create(runtime, random, pool, config);
    hca->set_gid(0, address.gid());
    transport = transport::soft::SoftTransport::create(runtime, random, network, ports);
    network.transport = transport.get();
    (void)transport->add_device(*hca, 0).has_value();
  }

  Address address;
  verbs::soft::testing::FakeRandom random;
  TinyNetwork network;
  transport::soft::LocalPortTable ports;
  std::unique_ptr<verbs::soft::Hca> hca;
  std::unique_ptr<transport::soft::SoftTransport> transport;
  Counter events;
};

struct Pair {
  Pair() {
    const sockaddr_storage local = b.address.to_sockaddr();
    server = b.transport->create_endpoint(RDMA_PS_TCP, IBV_QPT_RC, b.events).value();
    (void)server->bind(reinterpret_cast<const sockaddr&>(local)).has_value();
    (void)server->listen(0).has_value();
  }

  void settle() {
    while (a.transport->drain(runtime.time) || b.transport->drain(runtime.time) || carry(a, b) ||
           carry(b, a)) {
    }
  }
  bool carry(Host& from, Host& to) {
    bool any = false;
    while (verbs::soft::PacketPtr packet = from.hca->next_packet()) {
      to.hca->on_packet(runtime.time, std::move(packet));
      any = true;
    }
    return any;
  }
  void connect_and_disconnect() {
    const sockaddr_storage to = b.address.to_sockaddr();
    auto client = a.transport->create_endpoint(RDMA_PS_TCP, IBV_QPT_RC, a.events).value();
    const auto& address = reinterpret_cast<const sockaddr&>(to);
    (void)client->resolve_address(nullptr, address, std::chrono::seconds(1)).has_value();
    (void)a.transport->drain(runtime.time);
    (void)client->resolve_route(std::chrono::seconds(1)).has_value();
    (void)a.transport->drain(runtime.time);
    (void)client->connect({.qp_num = ++qpn}).has_value();
    settle();
    (void)b.events.request->accept({.qp_num = qpn}).has_value();
    settle();
    (void)client->establish().has_value();
    settle();
    (void)client->disconnect().has_value();
    settle();
    (void)b.events.request->disconnect().has_value();
    settle();
    client.reset();
    b.events.request.reset();
    server->on_request_fetched();
  }

  verbs::soft::testing::FakeRuntime runtime;
  verbs::soft::PacketPool pool;
  Host a{runtime, pool, 0x0a090001};
  Host b{runtime, pool, 0x0a090002};
  std::unique_ptr<Endpoint> server;
  std::uint32_t qpn = 0;
};

void lifecycle(benchmark::State& state) {
  Pair pair;
  for ([[maybe_unused]] auto _ : state) pair.connect_and_disconnect();
  // Six events, beside the request: anything else means that the figure is not a lifecycle's.
  const std::uint64_t events = pair.a.events.events + pair.b.events.events;
  state.counters["events"] = static_cast<double>(events) / static_cast<double>(state.iterations());
}
BENCHMARK(lifecycle);

}  // namespace
