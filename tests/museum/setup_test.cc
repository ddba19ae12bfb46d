// Section A: "I cannot run RDMA tests in CI / on my laptop"
#include <rdma/rdma_cma.h>

#include <cstring>

#include "sim/testing/life.h"
#include "tests/museum/exhibit.h"

namespace anyrdma::museum {
namespace {

class Setup : public Exhibit {
 protected:
  /// What the server on the first host, listening at `local`, gets from a client on the other (or
  /// the same), which asks for `remote`.
  std::string heard(sim::Host& client_side, const sim::Address& local, const sim::Address& remote) {
    std::string text;
    serve([this, &text, local] {
      const auto listener = server.listen(local);
      const Connection side = accept();
      EXPECT_EQ(side.pipe->wait_received().status, IBV_WC_SUCCESS);
      text.assign(side.pipe->buffer().begin(), side.pipe->buffer().begin() + 5);
    });
    client_side.spawn("ask", [&client_side, remote] {
      Program program(client_side);
      const auto id = program.resolve(remote);
      Pipe pipe(*id);
      const rdma_conn_param param = parameters("");
      EXPECT_TRUE(id->connect(&param));
      program.expect(RDMA_CM_EVENT_ESTABLISHED);
      std::memcpy(pipe.buffer().data(), "hello", 5);
      pipe.post(IBV_WR_SEND, 1, 0, 5);
      EXPECT_EQ(pipe.wait_sent().status, IBV_WC_SUCCESS);
    });
    run();
    return text;
  }
};

// Exhibit 1: Stock cloud images lack the kernel modules for RDMA, so users could not run RDMA tests
// there. Two simulated hosts need no module, no device, no root and no network.
// https://github.com/aibrix/PrisKV/issues/6
// https://github.com/SoftRoCE/librxe-dev/issues/9
// https://github.com/SoftRoCE/rxe-dev/issues/57
TEST_F(Setup, AConversationNeedsNoKernelModule) {
  EXPECT_EQ(heard(client_host, server_host.address(kPort), server_host.address(kPort)), "hello");
}

// Not shown 2: A project built a VM image and a boot script to have Soft-RoCE (rxe) in CI. There is
// no behaviour to test here: anyrdma's tests run in a plain container.
// https://github.com/ydb-platform/ydb/pull/20811
// https://github.com/ydb-platform/ydb/pull/26495

// Not shown 3: A project turned off rdma_cm in CI. With anyrdma, tests/programs runs unmodified
// programs over the drop-in libraries, in real time.
// https://github.com/openucx/xccl/pull/87
// https://github.com/openucx/xccl/pull/88

// Exhibit 4: Tests that passed on a NIC failed always, or in two runs of three, on rxe. In the
// simulator even a run on a bad network is reproducible: the same seed gives the same run.
// https://github.com/jonhoo/rust-ibverbs/issues/12
// https://github.com/jonhoo/rust-ibverbs/pull/13
// https://github.com/jonhoo/rust-ibverbs/pull/113
TEST(Repetition, OfARunOnABadNetworkIsTheSameRun) {
  int connected = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto run = sim::testing::run_life(seed);
    EXPECT_EQ(sim::testing::run_life(seed).hash, run.hash);
    EXPECT_TRUE(run.at_rest);
    connected += run.established ? 1 : 0;
  }
  EXPECT_GT(connected, 10);
}

// Exhibit 5: Newcomers try 127.0.0.1 first, and get ENODEV on Linux ("127.0.0.1 will never work").
// With anyrdma, 127.0.0.1 works.
// https://github.com/pmem/rpma/issues/1934
// https://github.com/ofiwg/libfabric/issues/2494
TEST_F(Setup, TheLoopbackAddressWorks) {
  const auto loopback = sim::Address::ipv4(0x7f000001, kPort);

  EXPECT_EQ(heard(server_host, loopback, loopback), "hello");
}

// Exhibit 5: rping to the host's own address never got an answer.
// https://github.com/SoftRoCE/rxe-dev/issues/43
TEST_F(Setup, AHostReachesItselfByItsOwnAddress) {
  const auto own = server_host.address(kPort);

  EXPECT_EQ(heard(server_host, own, own), "hello");
}

/// A pod has two interfaces: one for all, and one that stands on an RDMA device.
class Pod : public Exhibit {
 protected:
  sim::Host& pod = world.add_host(
      "pod", {.interfaces = {{.addresses = {"192.0.2.9"}, .name = "eth0", .rdma = false},
                             {.addresses = {"198.51.100.9"}, .name = "net1"}}});
  sim::Host& peer = world.add_host("peer", {"198.51.100.1"});

  /// What became of resolving an address of another host.
  Seen resolve(const sim::Address& address) {
    Seen answer;
    pod.spawn("main", [&] {
      Program program(pod);
      const auto id = program.make_id();
      const sockaddr_storage wanted = address.to_sockaddr();
      EXPECT_TRUE(id->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&wanted), kPatience));
      EXPECT_TRUE(program.next());
      answer = program.seen.front();
    });
    run();
    return answer;
  }
};

// Exhibit 6: In a Kubernetes pod the route to the peer led over an interface without RDMA. Users
// got ADDR_ERROR with error -19 and did not know why. The test reproduces that, to show the
// program's message.
// https://github.com/k8snetworkplumbingwg/sriov-network-device-plugin/issues/342
// https://github.com/Mellanox/docker-sriov-plugin/issues/11
// https://github.com/Mellanox/k8s-rdma-shared-dev-plugin/issues/87
TEST_F(Pod, ThatRoutesOverItsOrdinaryInterfaceGetsAddrError) {
  const Seen answer = resolve(server_host.address(kPort));

  EXPECT_EQ(answer.type, RDMA_CM_EVENT_ADDR_ERROR);
  EXPECT_EQ(answer.status, -ENODEV);
}

// Exhibit 6: If the peer of a Kubernetes pod is on the network of the pod's RDMA device, address
// resolution succeeds.
// https://github.com/k8snetworkplumbingwg/sriov-network-device-plugin/issues/342
TEST_F(Pod, ThatRoutesOverItsRdmaInterfaceResolves) {
  EXPECT_EQ(resolve(peer.address(kPort)).type, RDMA_CM_EVENT_ADDR_RESOLVED);
}

// Exhibit 6: A fault plan makes rdma_resolve_addr fail with ENODEV, as in a Kubernetes pod whose
// route has no RDMA device.
// https://github.com/Mellanox/k8s-rdma-shared-dev-plugin/issues/87
TEST_F(Setup, APlanLetsTheResolutionFailWithNoSuchDevice) {
  plan("on client call resolve_addr 1: fail ENODEV");
  ask([this] {
    const auto id = client.make_id();
    const sockaddr_storage peer = server_host.address(kPort).to_sockaddr();
    const auto* const wanted = reinterpret_cast<const sockaddr*>(&peer);
    EXPECT_EQ(id->resolve_addr(nullptr, wanted, kPatience).error().value(), ENODEV);
    EXPECT_TRUE(id->resolve_addr(nullptr, wanted, kPatience)) << "it may be tried again";
    client.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
  });

  run();
}

/// How a program ends that finds no event channel: with the words that perror() has for it, or with
/// what is wrong.
enum class Words { kOfTheCall, kOfTheCause };

std::string complain_without_channel(Words words) {
  rdma_event_channel* const channel = rdma_create_event_channel();
  if (channel != nullptr) {
    rdma_destroy_event_channel(channel);
    return "";
  }
  if (words == Words::kOfTheCause && errno == ENODEV) return "No RDMA devices were detected.";
  return std::string("rdma_create_event_channel: ") + std::strerror(errno);
}

// Exhibit 7: On a host without a NIC, programs print "rdma_create_event_channel: No such device",
// and users look for a mistake in event channels. A simulated host without devices tests a
// program's message for that case.
// https://github.com/linux-rdma/rdma-core/pull/368
TEST_F(Setup, WithoutADeviceTheFirstCallFailsWithWordsThatMislead) {
  sim::Host& bare =
      world.add_host("bare", {.interfaces = {{.addresses = {"192.0.2.9"}, .rdma = false}}});
  std::string misleading = "none";
  std::string mended = "none";
  std::string with_device = "none";
  bare.spawn("main", [&] {
    misleading = complain_without_channel(Words::kOfTheCall);
    mended = complain_without_channel(Words::kOfTheCause);
  });
  client_host.spawn("main", [&] { with_device = complain_without_channel(Words::kOfTheCause); });

  run();

  EXPECT_EQ(misleading, "rdma_create_event_channel: No such device");
  EXPECT_EQ(mended, "No RDMA devices were detected.");
  EXPECT_EQ(with_device, "");
}

}  // namespace
}  // namespace anyrdma::museum
