// Processes that speak RoCEv2 over UDP, as their applications see each other. Loopback addresses
// are hosts here, so no test needs root; a port of each test's own keeps tests apart.
#include "transport/udp/udp.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <future>
#include <string>
#include <thread>

#include "cm/event_channel.h"
#include "cm/id.h"
#include "transport/realtime/descriptor.h"
#include "transport/realtime/testing/child.h"
#include "transport/realtime/testing/eventually.h"
#include "transport/soft/address.h"
#include "transport/station/testing/party.h"
#include "verbs/testing/datagram_member.h"

namespace anyrdma::transport::udp {
namespace {

using realtime::Descriptor;
using namespace std::chrono_literals;
using realtime::testing::Child;
using realtime::testing::eventually;
using station::testing::Party;
using verbs::testing::DatagramMember;

constexpr std::uint16_t kRdmaPort = 7471;
constexpr const char* kFirst = "127.9.0.1";
constexpr const char* kSecond = "127.9.0.2";

/// A UDP port that nobody has on our addresses.
std::uint16_t free_port() {
  const Descriptor fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in name{};
  name.sin_family = AF_INET;
  socklen_t length = sizeof name;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) return 0;
  if (::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&name), &length) != 0) return 0;
  return ntohs(name.sin_port);
}

sockaddr_in to_sockaddr(const char* address, std::uint16_t port) {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_port = htons(port);
  EXPECT_EQ(::inet_pton(AF_INET, address, &result.sin_addr), 1);
  return result;
}

std::uint64_t to_address(const Party& party) {
  return reinterpret_cast<std::uintptr_t>(party.buffer.data());
}

class UdpTest : public ::testing::Test {
 protected:
  UdpConfig config(const char* address) const {
    return {.addresses = {address}, .port = port_, .network_namespace = {}};
  }
  /// A process with a device for each address.
  UdpConfig two_devices(const char* first, const char* second) const;
  std::unique_ptr<Udp> open(const char* address) const {
    return Udp::open(config(address)).value();
  }
  static int error_of(const UdpConfig& config) {
    const auto opened = Udp::open(config);
    if (opened) return 0;
    EXPECT_GT(explain(opened.error(), config).size(), 40u);
    return opened.error().default_error_condition().value();
  }

  const std::uint16_t port_ = free_port();
};

using UdpOpening = UdpTest;
using UdpConnection = UdpTest;
using UdpDatagrams = UdpTest;

// --- opening ------------------------------------------------------------------------------------

TEST_F(UdpOpening, OffersOneDeviceWithTheAddressesAsGids) {
  UdpConfig both = config(kFirst);
  both.addresses.emplace_back(kSecond);
  const auto udp = Udp::open(both).value();

  ASSERT_EQ(udp->transport().devices().size(), 1u);
  ibv_device* const device = udp->transport().devices()[0];
  EXPECT_STREQ(device->name, "anyrdma0");
  verbs::Provider& provider = udp->transport().provider_of(device);
  ibv_context* const context = provider.open_device(device).value();
  const ibv_gid gid = provider.query_gid(context, 1, 1).value().gid;
  EXPECT_EQ(soft::Address::from_gid(gid), soft::Address::ipv4(0x7f090002));
  provider.close_device(context).value();
}

// Peers remember connections by GUID and queue pair number, also those of a process that is gone.
TEST_F(UdpOpening, NoTwoDevicesHaveTheSameGuid) {
  const auto guid = [this](const char* address) {
    const auto udp = open(address);
    ibv_device* const device = udp->transport().devices()[0];
    verbs::Provider& provider = udp->transport().provider_of(device);
    ibv_context* const context = provider.open_device(device).value();
    ibv_device_attr attributes{};
    provider.query_device(context, &attributes).value();
    provider.close_device(context).value();
    return attributes.node_guid;
  };
  EXPECT_NE(guid(kFirst), guid(kFirst));
}

TEST_F(UdpOpening, RefusesWhatIsNoAddressOfThisMachine) {
  for (const char* bad : {"", "localhost", "1.2.3", "0.0.0.0", "224.0.0.1", "fe80::1", "::"})
    EXPECT_EQ(error_of(config(bad)), EINVAL) << bad;
  EXPECT_EQ(error_of(config("198.51.100.77")), EADDRNOTAVAIL);  // RFC 5737: for documentation
}

TEST_F(UdpOpening, FindsThePortTaken) {
  const auto first = open(kFirst);
  EXPECT_EQ(error_of(config(kFirst)), EADDRINUSE);
  EXPECT_EQ(error_of(config(kSecond)), 0);
}

TEST_F(UdpOpening, FindsThePortFreeOnceTheOtherHasRetired) {
  const auto first = open(kFirst);
  first->retire();
  first->retire();
  EXPECT_EQ(error_of(config(kFirst)), 0);
}

TEST_F(UdpOpening, RefusesANamespaceThatIsNone) {
  UdpConfig elsewhere = config(kFirst);
  for (const char* bad : {"/nonexistent/netns", "/proc/self/status", "/dev/null/x"}) {
    elsewhere.network_namespace = bad;
    EXPECT_EQ(error_of(elsewhere), ENOENT) << bad;
  }
}

TEST_F(UdpOpening, MayNotEnterANamespaceWithoutPrivilege) {
  const pid_t child = ::fork();  // who lives without capabilities
  if (child == 0) {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3]{};
    if (::syscall(SYS_capset, &header, none) != 0) ::_exit(2);
    UdpConfig elsewhere = config(kFirst);
    elsewhere.network_namespace = "/proc/self/ns/net";
    const auto opened = Udp::open(elsewhere);
    ::_exit(!opened && opened.error() == make_error_code(UdpErrc::kNotPermitted) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(UdpOpening, EveryErrorHasASentenceAndAnErrno) {
  for (int i = 1; i <= static_cast<int>(UdpErrc::kNoResources); ++i) {
    const auto error = make_error_code(static_cast<UdpErrc>(i));
    EXPECT_NE(error.default_error_condition().value(), 0);
    EXPECT_EQ(error.message().find("unknown"), std::string::npos);
    EXPECT_GT(explain(error, config(kFirst)).size(), 40u);
  }
}

// --- connections --------------------------------------------------------------------------------

TEST_F(UdpConnection, SendsWritesReadsAndEnds) {
  Party server(open(kFirst));
  Party client(open(kSecond));
  server.listen(kRdmaPort, kFirst);
  ASSERT_TRUE(client.start_connecting(kRdmaPort, kFirst));
  ASSERT_TRUE(server.answer());
  ASSERT_EQ(client.next_event(), RDMA_CM_EVENT_ESTABLISHED);
  ASSERT_EQ(server.next_event(), RDMA_CM_EVENT_ESTABLISHED);

  constexpr std::uint32_t kLength = 100'000;
  server.post_recv(kLength);
  std::memset(client.buffer.data(), 'a', kLength);
  client.post_send(kLength);
  EXPECT_EQ(client.next_completion(), IBV_WC_SUCCESS);
  EXPECT_EQ(server.next_completion(), IBV_WC_SUCCESS);
  EXPECT_EQ(server.buffer[kLength - 1], 'a');

  const std::uint64_t address = to_address(server);
  std::memset(client.buffer.data(), 'w', kLength);
  client.post_rdma(IBV_WR_RDMA_WRITE, address, server.region().rkey, kLength);
  EXPECT_EQ(client.next_completion(), IBV_WC_SUCCESS);
  EXPECT_EQ(server.buffer[kLength - 1], 'w');

  std::memset(server.buffer.data(), 'r', kLength);
  client.post_rdma(IBV_WR_RDMA_READ, address, server.region().rkey, kLength);
  EXPECT_EQ(client.next_completion(), IBV_WC_SUCCESS);
  EXPECT_EQ(client.buffer[kLength - 1], 'r');

  client.drop();
  EXPECT_EQ(server.next_event(), RDMA_CM_EVENT_DISCONNECTED);
}

UdpConfig UdpTest::two_devices(const char* first, const char* second) const {
  return {.addresses = {}, .devices = {{first}, {second}}, .port = port_, .network_namespace = {}};
}

TEST_F(UdpConnection, AnAddressChoosesTheDeviceAndOneOutlivesTheOther) {
  Party server(Udp::open(two_devices(kFirst, "127.9.1.1")).value());
  Party client(Udp::open(two_devices(kSecond, "127.9.1.2")).value());
  ASSERT_EQ(client.station().devices(), 2u);
  const auto remove_first = [](Party& party) {
    const verbs::CriticalSection section(party.station().transport().runtime());
    return party.station().remove_device(0);
  };
  for (const char* address : {kFirst, "127.9.1.1"}) {
    const bool second = address != kFirst;
    if (second) {
      ASSERT_TRUE(remove_first(server));
    }
    server.listen(kRdmaPort, address);
    ASSERT_TRUE(
        client.start_connecting(kRdmaPort, address, RDMA_PS_TCP, second ? "127.9.1.2" : kSecond));
    ASSERT_TRUE(server.answer());
    ASSERT_EQ(client.next_event(), RDMA_CM_EVENT_ESTABLISHED);
    ASSERT_EQ(server.next_event(), RDMA_CM_EVENT_ESTABLISHED);
    EXPECT_STREQ(client.id().raw()->verbs->device->name, second ? "anyrdma1" : "anyrdma0");
    server.post_recv(5000);
    client.post_send(5000);
    EXPECT_EQ(client.next_completion(), IBV_WC_SUCCESS);
    EXPECT_EQ(server.next_completion(), IBV_WC_SUCCESS);
    client.drop();
    EXPECT_EQ(server.next_event(), RDMA_CM_EVENT_DISCONNECTED);
    server.drop();
  }
}

TEST_F(UdpConnection, ToNobodysServiceIsRejectedByTheOtherHost) {
  Party server(open(kFirst));
  Party client(open(kSecond));
  ASSERT_TRUE(client.start_connecting(kRdmaPort, kFirst));
  EXPECT_EQ(client.next_event(), RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(client.status(), 8);
}

TEST_F(UdpConnection, ToOneselfNeedsNoWire) {
  Party both(open(kFirst));
  both.listen(kRdmaPort, kFirst);
  ASSERT_TRUE(both.start_connecting(kRdmaPort, kFirst));
  EXPECT_EQ(both.next_event(), RDMA_CM_EVENT_CONNECT_REQUEST);
}

TEST_F(UdpConnection, AFloodOfMessagesArrivesInOrder) {
  Party server(open(kFirst));
  Party client(open(kSecond));
  server.listen(kRdmaPort, kFirst);
  ASSERT_TRUE(client.start_connecting(kRdmaPort, kFirst));
  ASSERT_TRUE(server.answer());
  ASSERT_EQ(client.next_event(), RDMA_CM_EVENT_ESTABLISHED);
  ASSERT_EQ(server.next_event(), RDMA_CM_EVENT_ESTABLISHED);
  constexpr int kMessages = 20;
  constexpr std::uint32_t kLength = 1 << 18;
  for (int i = 0; i < kMessages; ++i)
    client.post_rdma(IBV_WR_RDMA_WRITE, to_address(server), server.region().rkey, kLength);
  for (int i = 0; i < kMessages; ++i) ASSERT_EQ(client.next_completion(), IBV_WC_SUCCESS) << i;
}

// --- fork and namespaces ------------------------------------------------------------------------

class UdpFork : public UdpTest {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "ThreadSanitizer cannot follow threads of a child whose parent had some";
#endif
  }
};

TEST_F(UdpFork, AChildIsCutOffWithoutHarmToTheParent) {
  Party server(open(kFirst));
  auto client = std::make_unique<Party>(open(kSecond));
  server.listen(kRdmaPort, kFirst);
  ASSERT_TRUE(client->start_connecting(kRdmaPort, kFirst));

  Child child([&](const Child::Line&) {
    if (!client->station().forked() || !server.station().forked()) return 1;
    client.reset();
    return error_of(config("127.9.0.3"));
  });

  EXPECT_EQ(child.wait(), 0);
  EXPECT_FALSE(server.station().forked());
  ASSERT_TRUE(server.answer());
  EXPECT_EQ(client->next_event(), RDMA_CM_EVENT_ESTABLISHED);
}

/// Makes the calling thread's network namespace a new one, whose loopback interface is up.
bool leave_network_namespace() {
  if (::unshare(CLONE_NEWNET) != 0) return false;
  const Descriptor fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  return ::ioctl(fd.get(), SIOCSIFFLAGS, &request) == 0;
}

TEST_F(UdpFork, SocketsAreOpenedInTheNamedNamespace) {
  constexpr int kNoRight = 77;
  Child child([this](const Child::Line&) {
    if (::unshare(CLONE_NEWUSER) != 0 || !leave_network_namespace()) return kNoRight;
    std::promise<std::string> path;
    std::promise<void> end;
    std::thread elsewhere([&] {
      const bool left = leave_network_namespace();
      path.set_value(left ? "/proc/self/task/" + std::to_string(::gettid()) + "/ns/net" : "");
      end.get_future().wait();
    });
    UdpConfig there = config(kFirst);
    there.network_namespace = path.get_future().get();
    const auto here = Udp::open(config(kFirst));
    const bool apart = here && !there.network_namespace.empty() && error_of(there) == 0 &&
                       error_of(config(kFirst)) == EADDRINUSE;
    end.set_value();
    elsewhere.join();
    return apart ? 0 : 1;
  });
  const int status = child.wait();
  if (status == kNoRight) GTEST_SKIP() << "this machine does not allow user namespaces";
  EXPECT_EQ(status, 0);
}

// --- datagrams ----------------------------------------------------------------------------------

TEST_F(UdpDatagrams, AServiceIsFoundWithoutAConnection) {
  const auto server = open(kFirst);
  const auto client = open(kSecond);
  const auto server_channel = cm::EventChannel::create(server->transport()).value();
  const auto client_channel = cm::EventChannel::create(client->transport()).value();
  const auto listener = cm::Id::create(*server_channel, RDMA_PS_UDP, nullptr).value();
  const sockaddr_in service = to_sockaddr(kFirst, kRdmaPort);
  const auto* const address = reinterpret_cast<const sockaddr*>(&service);
  listener->bind(address).value();
  listener->listen(0).value();
  const auto id = cm::Id::create(*client_channel, RDMA_PS_UDP, nullptr).value();
  id->resolve_addr(nullptr, address, 2s).value();
  ASSERT_EQ(client_channel->get().value().type(), RDMA_CM_EVENT_ADDR_RESOLVED);
  id->resolve_route(2s).value();
  ASSERT_EQ(client_channel->get().value().type(), RDMA_CM_EVENT_ROUTE_RESOLVED);
  rdma_conn_param asked{};
  id->connect(&asked).value();

  cm::Event request = server_channel->get().value();
  ASSERT_EQ(request.type(), RDMA_CM_EVENT_CONNECT_REQUEST);
  const auto child = request.take_request();
  rdma_conn_param answer{};
  answer.qp_num = 0x4711;
  child->accept(&answer).value();

  const cm::Event established = client_channel->get().value();
  ASSERT_EQ(established.type(), RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_EQ(established.ud().qp_num, 0x4711u);
}

/// A host with one datagram queue pair.
struct DatagramHost {
  explicit DatagramHost(std::unique_ptr<Udp> opened) : udp(std::move(opened)) {}
  [[nodiscard]] std::unique_ptr<DatagramMember> make_member() const {
    ibv_device* const device = udp->transport().devices()[0];
    return std::make_unique<DatagramMember>(udp->transport().provider_of(device), device, 0);
  }

  /// Joins the IP group; the event that says how it went.
  int join(const char* group, const char* address) {
    const sockaddr_in local = to_sockaddr(address, 0);
    const sockaddr_in wanted = to_sockaddr(group, 0);
    channel = cm::EventChannel::create(udp->transport()).value();
    id = cm::Id::create(*channel, RDMA_PS_UDP, nullptr).value();
    id->bind(reinterpret_cast<const sockaddr*>(&local)).value();
    id->join_multicast(reinterpret_cast<const sockaddr*>(&wanted), nullptr).value();
    return channel->get().value().type();
  }
  void leave() { id.reset(); }

  std::unique_ptr<Udp> udp;
  std::unique_ptr<DatagramMember> member = make_member();
  std::unique_ptr<cm::EventChannel> channel;
  std::unique_ptr<cm::Id> id;
};

TEST_F(UdpDatagrams, FindTheQueuePairOfAnotherHost) {
  DatagramHost a(open(kFirst));
  DatagramHost b(open(kSecond));

  a.member->send(soft::Address::ipv4(0x7f090002).gid(), b.member->qpn(), 'b');

  EXPECT_TRUE(eventually([&] { return b.member->received() == 1; }));
  EXPECT_EQ(b.member->last_letter(), 'b');
}

TEST_F(UdpDatagrams, ToAGroupReachTheHostsThatJoinedIt) {
  DatagramHost a(open(kFirst));
  DatagramHost b(open(kSecond));
  const ibv_gid group = soft::Address::ipv4(0xef094711).gid();
  const auto join = [&](DatagramHost& host, const char* address) {
    host.member->attach(group);
    return host.join("239.9.71.17", address);
  };
  ASSERT_EQ(join(a, kFirst), RDMA_CM_EVENT_MULTICAST_JOIN);
  ASSERT_EQ(join(b, kSecond), RDMA_CM_EVENT_MULTICAST_JOIN);

  a.member->send_to_group(group);

  EXPECT_TRUE(eventually([&] { return b.member->received() == 1; }));
  b.member->send_to_group(group);
  EXPECT_TRUE(eventually([&] { return a.member->received() == 1; }));
  EXPECT_EQ(b.member->received(), 1u) << "nobody hears himself";

  b.leave();
  a.member->send_to_group(group);
  a.member->send(soft::Address::ipv4(0x7f090002).gid(), b.member->qpn(), 'z');
  EXPECT_TRUE(eventually([&] { return b.member->received() == 2; }));
  EXPECT_EQ(b.member->last_letter(), 'z') << "what was sent before did not arrive";
}

// Whatever comes before it, a good packet gets through; the others do nothing at all.
TEST_F(UdpDatagrams, BadPacketsAreDropped) {
  DatagramHost a(open(kFirst));
  DatagramHost b(open(kSecond));
  const Descriptor stranger(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const sockaddr_in to = to_sockaddr(kSecond, port_);
  std::vector<std::uint8_t> bytes(9000, 0x64);  // 0x64: a datagram's opcode
  for (const std::size_t size : {0u, 1u, 11u, 15u, 16u, 40u, 300u, 4224u, 4225u, 9000u}) {
    ASSERT_EQ(::sendto(stranger.get(), bytes.data(), size, 0,
                       reinterpret_cast<const sockaddr*>(&to), sizeof to),
              static_cast<ssize_t>(size));
  }

  a.member->send(soft::Address::ipv4(0x7f090002).gid(), b.member->qpn(), 'g');

  EXPECT_TRUE(eventually([&] { return b.member->received() == 1; }));
  EXPECT_EQ(b.member->last_letter(), 'g');
}

}  // namespace
}  // namespace anyrdma::transport::udp
