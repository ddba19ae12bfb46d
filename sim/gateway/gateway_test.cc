// Processes on simulated hosts, which meet in the world. They run in real time here: what is theirs
// alone is waited for, with a deadline, while the world goes on in small steps.
#include "sim/gateway/gateway.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "cm/event_channel.h"
#include "cm/id.h"
#include "sim/world.h"
#include "transport/fabric/fabric.h"
#include "transport/fabric/rendezvous/testing/scratch.h"
#include "transport/realtime/testing/child.h"
#include "transport/station/testing/party.h"
#include "verbs/soft/packet.h"
#include "verbs/soft/wire/pcap.h"
#include "verbs/testing/datagram_member.h"

namespace anyrdma::sim {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using transport::fabric::Fabric;
using transport::fabric::FabricConfig;
using transport::fabric::testing::Scratch;
using transport::realtime::testing::Child;
using transport::station::testing::Party;
using verbs::testing::DatagramMember;

constexpr const char* kServer = "10.0.0.1";
constexpr const char* kClient = "10.0.0.2";
constexpr std::uint32_t kServerIp = 0x0a000001;
constexpr std::uint32_t kClientIp = 0x0a000002;
constexpr std::uint16_t kPort = 7471;
constexpr std::uint32_t kBytes = 64 * 1024;

/// What the processes and the test know of each other.
struct Shared {
  std::atomic<int> server{0};  ///< how far it is
  std::atomic<int> client{0};
  std::atomic<int> goal{0};  ///< how far the test lets them go
  std::atomic<int> event{-1};
  std::atomic<int> status{0};
  std::uint64_t address = 0;
  std::uint32_t rkey = 0;
};

/// A member of a host's fabric, in this process, that sends datagrams.
struct DatagramParty {
  static constexpr std::uint32_t kAddressIndex = 1;  ///< behind the link-local one

  explicit DatagramParty(const Gateway& gateway) : fabric(Fabric::open(gateway.config()).value()) {}
  [[nodiscard]] std::unique_ptr<DatagramMember> make_member() const {
    ibv_device* const device = fabric->transport().devices()[0];
    return std::make_unique<DatagramMember>(fabric->transport().provider_of(device), device,
                                            kAddressIndex);
  }

  std::unique_ptr<Fabric> fabric;
  std::unique_ptr<DatagramMember> member = make_member();
};

class GatewayTest : public ::testing::Test {
 protected:
  using Body = std::function<bool(Party&)>;

  GatewayTest() {
    void* const at =
        ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared = new (at) Shared;
  }
  ~GatewayTest() override { ::munmap(shared, sizeof(Shared)); }

  Host& add(const char* name, const char* address) {
    return world.add_host(name,
                          HostOptions{.interfaces = {{.addresses = {address}, .rdma = false}}});
  }
  /// A process with a station of its own; it ends with 0 if `body` says so.
  std::unique_ptr<Child> start(const Gateway& gateway, const Body& body) {
    FabricConfig config = gateway.config();
    config.profile.packet_lifetime = 8;  // or a lost message would take the test five seconds
    config.profile.cm_response_timeout = 14;
    return std::make_unique<Child>([config, body](const Child::Line&) {
      Party party(Fabric::open(config).value());
      return body(party) ? 0 : 1;
    });
  }
  /// In a process: waits until the test says so. The test's own deadline ends it.
  void wait_for(int goal) const {
    while (shared->goal < goal) ::sched_yield();
  }
  /// Lets the world and the processes go on until then.
  bool until(const std::function<bool()>& done) {
    const auto end = std::chrono::steady_clock::now() + 120s;
    while (!done()) {
      if (std::chrono::steady_clock::now() > end) return false;
      if (!go_on()) ::sched_yield();
    }
    return true;
  }
  /// Where nothing arrives, the steps of the world are longer: after each of them the processes may
  /// run, and beside other load that takes milliseconds.
  bool go_on() {
    bool any = false;
    for (Gateway* const gateway : {server.get(), client.get()})
      any |= gateway != nullptr && gateway->poll();
    world.run_for(any ? 100us : 1ms);
    return any;
  }
  Body wait_for_requests() {
    return [this](Party& party) {
      party.listen(kPort, kServer);
      shared->server = 1;
      while (party.accept()) ++shared->server;
      return true;
    };
  }
  /// Connects, says so, and tells which event comes next.
  Body connect_and_watch() {
    return [this](Party& party) {
      if (!party.connect(kPort, kServer)) return false;
      shared->client = 1;
      shared->event = party.next_event();
      return true;
    };
  }
  /// Sends a request and tells what becomes of it.
  Body try_to_connect(const char* address) {
    return [this, address](Party& party) {
      if (party.start_connecting(kPort, address)) shared->event = party.next_event();
      shared->status = party.status();
      shared->client = 1;
      return true;
    };
  }
  /// How many RoCEv2 frames from that address the capture has.
  [[nodiscard]] std::size_t frames_from(std::uint32_t address) {
    constexpr std::size_t kSourceAt = 14 + 12;
    constexpr std::size_t kPortAt = 14 + 20 + 2;
    const auto number = [](std::span<const std::uint8_t> bytes) {
      return std::accumulate(bytes.begin(), bytes.end(), std::uint32_t{0},
                             [](std::uint32_t sum, std::uint8_t byte) { return sum << 8 | byte; });
    };
    const std::vector<std::uint8_t> file = world.capture();
    std::size_t count = 0;
    const auto records = roce::pcap::parse(file).value();
    for (const auto& record : records) {
      count += number(record.frame.subspan(kSourceAt, 4)) == address &&
               number(record.frame.subspan(kPortAt, 2)) == verbs::soft::kRoceUdpPort;
    }
    return count;
  }
  [[nodiscard]] std::string trace() { return world.trace().text(); }

  Shared* shared = nullptr;
  Scratch server_directory;
  Scratch client_directory;
  World world{1, {.capture = true}};
  Host& server_host = add("server", kServer);
  Host& client_host = add("client", kClient);
  std::unique_ptr<Gateway> server =
      Gateway::create(server_host, server_directory.config().directory).value();
  std::unique_ptr<Gateway> client =
      Gateway::create(client_host, client_directory.config().directory).value();
};

// --- connections --------------------------------------------------------------------------------

TEST_F(GatewayTest, ProcessesOnTwoHostsConnectAndExchangeData) {
  const auto listener = start(*server, [this](Party& party) {
    party.listen(kPort, kServer);
    shared->server = 1;
    if (!party.accept()) return false;
    party.post_recv(kBytes);
    shared->address = reinterpret_cast<std::uintptr_t>(party.buffer.data());
    shared->rkey = party.region().rkey;
    shared->server = 2;
    const bool received =
        party.next_completion() == IBV_WC_SUCCESS && party.buffer[kBytes - 1] == 1;
    shared->server = received ? 3 : -1;
    wait_for(1);
    return received && party.buffer[0] == 2;
  });
  ASSERT_TRUE(until([&] { return shared->server == 1; }));
  const auto connector = start(*client, [this](Party& party) {
    if (!party.connect(kPort, kServer)) return false;
    while (shared->server < 2) ::sched_yield();
    std::fill_n(party.buffer.begin(), kBytes, std::uint8_t{1});
    party.post_send(kBytes);
    if (party.next_completion() != IBV_WC_SUCCESS) return false;
    while (shared->server == 2) ::sched_yield();
    std::fill_n(party.buffer.begin(), kBytes, std::uint8_t{2});
    party.post_rdma(IBV_WR_RDMA_WRITE, shared->address, shared->rkey, kBytes);
    if (party.next_completion() != IBV_WC_SUCCESS) return false;
    std::fill_n(party.buffer.begin(), kBytes, std::uint8_t{3});
    party.post_rdma(IBV_WR_RDMA_READ, shared->address, shared->rkey, kBytes);
    if (party.next_completion() != IBV_WC_SUCCESS) return false;
    shared->client = party.buffer[0] == 2 && party.buffer[kBytes - 1] == 2 ? 1 : -1;
    return true;
  });

  ASSERT_TRUE(until([&] { return shared->client != 0; }));
  shared->goal = 1;

  EXPECT_EQ(shared->client, 1);
  EXPECT_EQ(connector->wait(), 0);
  EXPECT_EQ(listener->wait(), 0);
  EXPECT_THAT(trace(), HasSubstr("client -> server REQ"));
  EXPECT_THAT(trace(), HasSubstr("server -> client REP"));
  EXPECT_GT(frames_from(kServerIp), kBytes / 4096) << "its READ responses";
  EXPECT_GT(frames_from(kClientIp), 2 * kBytes / 4096);
}

TEST_F(GatewayTest, ALostRequestComesAgain) {
  ASSERT_TRUE(world.faults().inject(FaultPlan::parse("on client->server REQ 1: lose").value()));
  const auto listener = start(*server, wait_for_requests());
  ASSERT_TRUE(until([&] { return shared->server == 1; }));

  const auto connector = start(*client, connect_and_watch());

  EXPECT_TRUE(until([&] { return shared->client == 1; }));
  EXPECT_TRUE(world.faults().unfired().empty());
}

TEST_F(GatewayTest, AnAddressThatNobodyHasIsNotFound) {
  const auto connector = start(*client, try_to_connect("10.0.0.99"));

  ASSERT_TRUE(until([&] { return shared->client == 1; }));

  EXPECT_EQ(shared->event, -1) << "no request was sent";
  EXPECT_EQ(shared->status, -ETIMEDOUT);
  EXPECT_GE(world.now().time_since_epoch(), 2s);
}

TEST_F(GatewayTest, AHostThatIsCutOffIsNotFound) {
  world.set_link(server_host, client_host, {.down = true});
  const auto connector = start(*client, try_to_connect(kServer));

  ASSERT_TRUE(until([&] { return shared->client == 1; }));

  EXPECT_EQ(shared->status, -ETIMEDOUT);
}

// It asks when the gateway has gone: as a fork it has the gateway's listener, too, and would wait
// for itself.
TEST_F(GatewayTest, WithoutTheGatewayNobodyIsFound) {
  const auto connector = start(*client, [this](Party& party) {
    wait_for(1);
    return try_to_connect(kServer)(party);
  });
  client.reset();
  shared->goal = 1;

  ASSERT_TRUE(until([&] { return shared->client == 1; }));

  EXPECT_EQ(shared->status, -ETIMEDOUT);
}

TEST_F(GatewayTest, AGroupsDatagramsReachEveryMemberOnceOnAllHosts) {
  const ibv_gid group = Address::ipv4(0xef010101).gid();
  const DatagramParty sender(*client);
  const DatagramParty beside(*client);
  const DatagramParty there(*server);
  const DatagramParty also_there(*server);
  const std::array<DatagramMember*, 3> others{beside.member.get(), there.member.get(),
                                              also_there.member.get()};
  for (DatagramMember* const each : others) each->attach(group);
  sender.member->attach(group);

  sender.member->send_to_group(group);

  for (DatagramMember* const each : others)
    EXPECT_TRUE(until([&] { return each->received() == 1; }));
  sender.member->send(Address::ipv4(kServerIp).gid(), there.member->qpn(), 'b');
  EXPECT_TRUE(until([&] { return there.member->received() == 2; })) << "what it got came once";
  EXPECT_EQ(there.member->last_letter(), 'b');
  for (DatagramMember* const each : {beside.member.get(), also_there.member.get()})
    EXPECT_EQ(each->received(), 1u);
  EXPECT_EQ(sender.member->received(), 0u);
}

TEST_F(GatewayTest, OnePollTakesInAllThatProcessesHaveSent) {
  const DatagramParty sender(*client);
  sender.member->send(Address::ipv4(kServerIp).gid(), 0x4011);

  EXPECT_TRUE(client->poll());

  EXPECT_EQ(world.packets(), 1u) << "behind a connection and its hello";
}

// --- what a kernel says -------------------------------------------------------------------------

TEST_F(GatewayTest, WhereNobodyListensARequestIsRefused) {
  const auto connector = start(*client, try_to_connect(kServer));
  ASSERT_TRUE(until([&] { return shared->client == 1; }));
  EXPECT_EQ(shared->event, RDMA_CM_EVENT_REJECTED) << "no process at all";
  EXPECT_EQ(shared->status, 8);

  shared->client = 0;
  const auto other = start(*server, [this](Party& party) {
    party.listen(kPort + 1, kServer);
    shared->server = 1;
    wait_for(1);
    return true;
  });
  ASSERT_TRUE(until([&] { return shared->server == 1; }));
  const auto again = start(*client, try_to_connect(kServer));
  ASSERT_TRUE(until([&] { return shared->client == 1; }));

  EXPECT_EQ(shared->event, RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(shared->status, 8);
}

TEST_F(GatewayTest, ADatagramServiceThatNobodyOffersIsUnreachable) {
  const auto asker = start(*client, [this](Party& party) {
    if (party.start_connecting(kPort, kServer, RDMA_PS_UDP)) shared->event = party.next_event();
    shared->status = party.status();
    shared->client = 1;
    return true;
  });

  ASSERT_TRUE(until([&] { return shared->client == 1; }));

  EXPECT_EQ(shared->event, RDMA_CM_EVENT_UNREACHABLE);
  EXPECT_EQ(shared->status, 1);
}

TEST_F(GatewayTest, ThePeerOfAKilledProcessIsDisconnected) {
  const auto listener = start(*server, wait_for_requests());
  ASSERT_TRUE(until([&] { return shared->server == 1; }));
  const auto connector = start(*client, connect_and_watch());
  ASSERT_TRUE(until([&] { return shared->client == 1 && shared->server == 2; }));

  listener->kill();

  ASSERT_TRUE(until([&] { return shared->event != -1; }));
  EXPECT_EQ(shared->event, RDMA_CM_EVENT_DISCONNECTED);
}

TEST_F(GatewayTest, TheRequestOfAKilledProcessIsRejected) {
  const auto listener = start(*server, [this](Party& party) {
    party.listen(kPort, kServer);
    shared->server = 1;
    if (party.take_request()) shared->server = 2;
    wait_for(1);
    return true;
  });
  ASSERT_TRUE(until([&] { return shared->server == 1; }));
  const auto connector = start(*client, try_to_connect(kServer));
  ASSERT_TRUE(until([&] { return shared->server == 2; }));

  listener->kill();

  ASSERT_TRUE(until([&] { return shared->client == 1; }));
  EXPECT_EQ(shared->event, RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(shared->status, 28);
}

TEST_F(GatewayTest, ARepeatedRequestBelongsToWhoGotItThoughNobodyListensAnyMore) {
  const auto listener = start(*server, [this](Party& party) {
    const auto channel = cm::EventChannel::create(party.station().transport()).value();
    auto id = cm::Id::create(*channel, RDMA_PS_TCP, nullptr).value();
    const sockaddr_storage here = Address::ipv4(kServerIp, kPort).to_sockaddr();
    id->bind(reinterpret_cast<const sockaddr*>(&here)).value();
    id->listen(1).value();
    shared->server = 1;
    const auto request = channel->get()->take_request();
    id.reset();
    shared->server = 2;
    wait_for(1);
    return request != nullptr;
  });
  ASSERT_TRUE(until([&] { return shared->server == 1; }));
  const auto connector = start(*client, try_to_connect(kServer));

  EXPECT_TRUE(until([&] { return trace().find("server -> client MRA") != std::string::npos; }));
  EXPECT_EQ(shared->client, 0) << shared->status;
  listener->kill();

  ASSERT_TRUE(until([&] { return shared->client == 1; }));
  EXPECT_EQ(shared->event, RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(shared->status, 28);
}

TEST_F(GatewayTest, ACrashedHostsProcessesSayNothing) {
  const auto listener = start(*server, wait_for_requests());
  ASSERT_TRUE(until([&] { return shared->server == 1; }));
  const auto connector = start(*client, connect_and_watch());
  ASSERT_TRUE(until([&] { return shared->client == 1 && shared->server == 2; }));

  ASSERT_TRUE(server_host.power().crash());
  listener->kill();
  server_host.power().restart();
  const std::uint64_t packets = world.packets();
  for (int i = 0; i < 100; ++i) go_on();

  EXPECT_EQ(world.packets(), packets);
  EXPECT_EQ(shared->event, -1);
}

// The first process of each host has the same comm ids and queue pairs as that of another host.
TEST_F(GatewayTest, ANamesakeOfThePeerOnOnesOwnHostMayDie) {
  const auto listener = start(*server, wait_for_requests());
  const auto namesake = start(*client, [this](Party& party) {
    party.listen(kPort, kClient);
    shared->client = 1;
    if (party.take_request()) shared->client = 2;
    wait_for(1);
    return true;
  });
  ASSERT_TRUE(until([&] { return shared->server == 1 && shared->client == 1; }));
  const auto connector = start(*client, [this](Party& party) {
    if (!party.connect(kPort, kServer)) return false;
    const auto channel = cm::EventChannel::create(party.station().transport()).value();
    const auto id = cm::Id::create(*channel, RDMA_PS_TCP, nullptr).value();
    const sockaddr_storage to = Address::ipv4(0x0a000002, kPort).to_sockaddr();
    id->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&to), 2s).value();
    (void)channel->get().value();
    id->resolve_route(2s).value();
    (void)channel->get().value();
    rdma_conn_param param{};
    param.qp_num = 0x77;
    id->connect(&param).value();
    shared->event = channel->get()->type();
    pollfd more{party.id().raw()->channel->fd, POLLIN, 0};
    shared->status = ::poll(&more, 1, 0);
    shared->client = 3;
    return true;
  });
  ASSERT_TRUE(until([&] { return shared->client == 2; }));

  namesake->kill();

  ASSERT_TRUE(until([&] { return shared->client == 3; }));
  EXPECT_EQ(shared->event, RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(shared->status, 0) << "an event of the connection with the other host";
}

// --- programs -----------------------------------------------------------------------------------

TEST_F(GatewayTest, TheEnvironmentNamesTheFabricAndTheAddresses) {
  EXPECT_THAT(server->environment(),
              ::testing::ElementsAre("ANYRDMA_TRANSPORT=fabric", "ANYRDMA_FABRIC=world",
                                     "ANYRDMA_DIR=" + server_directory.config().directory,
                                     "ANYRDMA_ADDRESSES=10.0.0.1/24,fe80::ff:fe00:100/64"));
}

TEST_F(GatewayTest, TheEnvironmentNamesTheAddressesOfEachInterface) {
  Host& rails = world.add_host(
      "rails", HostOptions{.interfaces = {{.addresses = {"10.0.0.7", "fe80::7"}, .rdma = false},
                                          {.addresses = {"10.0.1.7/16", "fe80::8"},
                                           .rdma = false,
                                           .device = verbs::soft::HcaConfig{.name = "mlx5_1"}}}});
  const Scratch directory;
  const auto gateway = Gateway::create(rails, directory.config().directory).value();

  EXPECT_THAT(gateway->environment(),
              ::testing::Contains(
                  "ANYRDMA_ADDRESSES=10.0.0.7/24,fe80::7/64;mlx5_1=10.0.1.7/16,fe80::8/64"));
  EXPECT_EQ(rails.devices().knows("anyrdma0"), true);
  EXPECT_EQ(rails.devices().knows("mlx5_1"), true);
  EXPECT_EQ(rails.devices().knows("anyrdma1"), false);
}

TEST_F(GatewayTest, NumbersDifferBetweenHostsProcessesAndSeeds) {
  const auto number = [](const Gateway& gateway) { return DatagramParty(gateway).member->qpn(); };
  const auto number_with = [&number](std::uint64_t seed) {
    World other(seed);
    Host& host = other.add_host(
        "client", HostOptions{.interfaces = {{.addresses = {kClient}, .rdma = false}}});
    const Scratch directory;
    return number(*Gateway::create(host, directory.config().directory).value());
  };
  const std::uint32_t first = number(*client);

  EXPECT_NE(number(*server), first);
  EXPECT_NE(number(*client), first) << "the next process";
  EXPECT_NE(number_with(2), first);
  EXPECT_EQ(number_with(1), first);
}

TEST_F(GatewayTest, ASecondGatewayIsRefused) {
  Host& other = add("other", "10.0.0.3");

  EXPECT_FALSE(Gateway::create(other, server_directory.config().directory));
}

}  // namespace
}  // namespace anyrdma::sim
