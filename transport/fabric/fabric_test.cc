// Members of one fabric, in one process and in several, as their applications see each other.
#include "transport/fabric/fabric.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>

#include "transport/fabric/rendezvous/slot.h"
#include "transport/fabric/rendezvous/testing/scratch.h"
#include "transport/realtime/testing/can_cancel.h"
#include "transport/realtime/testing/child.h"
#include "transport/realtime/testing/eventually.h"
#include "transport/station/testing/party.h"
#include "verbs/soft/device_profile.h"

namespace anyrdma::transport::fabric {
namespace {

using realtime::testing::Child;
using realtime::testing::eventually;
using testing::Scratch;

constexpr std::uint16_t kPort = 7471;

thread_local int yields = 0;  // sched_yield() below counts
thread_local const std::function<void()>* while_yielding = nullptr;

/// A member.
class Party : public station::testing::Party {
 public:
  explicit Party(const FabricConfig& config)
      : station::testing::Party(Fabric::open(config).value()) {}
};

class FabricTest : public ::testing::Test {
 protected:
  Scratch scratch;
};

using FabricOpening = FabricTest;
using FabricConnection = FabricTest;
using FabricDeath = FabricTest;

class FabricFork : public FabricTest {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "ThreadSanitizer cannot follow threads of a child whose parent had some";
#endif
  }
};
using FabricCost = FabricTest;

// --- opening ------------------------------------------------------------------------------------

TEST_F(FabricOpening, OffersOneDeviceAndLeavesNothingBehind) {
  {
    const auto fabric = Fabric::open(scratch.config()).value();

    ASSERT_EQ(fabric->transport().devices().size(), 1u);
    EXPECT_STREQ(fabric->transport().devices()[0]->name, "anyrdma0");
    EXPECT_TRUE(scratch.exists());
    EXPECT_FALSE(fabric->forked());
  }
  EXPECT_FALSE(scratch.exists());
}

// A process has 14 of the 24 bits of a number.
TEST_F(FabricOpening, PromisesAsManyQueuePairsAsItHas) {
  for (const char* profile : {"anyrdma", "connectx", "minimal"}) {
    FabricConfig config = scratch.config();
    config.device = verbs::soft::parse_profile(profile).value();
    const auto fabric = Fabric::open(config).value();
    ibv_device* const device = fabric->transport().devices()[0];
    verbs::Provider& provider = fabric->transport().provider_of(device);
    ibv_context* const context = provider.open_device(device).value();
    ibv_device_attr attr{};
    ASSERT_TRUE(provider.query_device(context, &attr));
    EXPECT_EQ(attr.max_qp, static_cast<int>(std::min(config.device.max_qp, kQpnCount)));
    EXPECT_TRUE(provider.close_device(context));
  }
}

TEST_F(FabricOpening, RefusesABadNameAndAnotherUser) {
  for (const char* name : {"", "a/b", ".hidden", "with space"}) {
    FabricConfig config = scratch.config();
    config.name = name;
    EXPECT_EQ(Fabric::open(config).error(), make_error_code(FabricErrc::kBadName)) << name;
  }
  FabricConfig config = scratch.config();
  config.uid += 1;
  EXPECT_EQ(Fabric::open(config).error(), make_error_code(FabricErrc::kWrongUser));
}

TEST_F(FabricOpening, TheNumberOfDevicesHasLimits) {
  FabricConfig config = scratch.config();
  for (const std::size_t devices : {std::size_t{0}, kRailsMax + 1}) {
    config.devices = devices;
    EXPECT_EQ(Fabric::open(config).error(), make_error_code(FabricErrc::kBadDevices)) << devices;
  }
  config.devices = kRailsMax;
  EXPECT_EQ(Fabric::open(config).value()->transport().devices().size(), kRailsMax);
}

TEST_F(FabricOpening, EveryErrorHasASentenceAndAnErrno) {
  for (int i = 1; i <= static_cast<int>(FabricErrc::kBadDevices); ++i) {
    const auto error = make_error_code(static_cast<FabricErrc>(i));
    EXPECT_NE(errno_of(error), 0);
    EXPECT_NE(error.message(), "unknown fabric error");
    EXPECT_GT(explain(error, scratch.config()).size(), 40u);
  }
}

TEST_F(FabricOpening, RetiringTwiceIsHarmlessAndObjectsCanStillGo) {
  Party party(scratch.config());
  party.listen(kPort);

  party.station().retire();
  party.station().retire();

  EXPECT_FALSE(scratch.exists());
}

// --- connections --------------------------------------------------------------------------------

TEST_F(FabricConnection, TwoMembersConnectSendAndDisconnect) {
  Party server(scratch.config());
  Party client(scratch.config());
  server.listen(kPort);
  ASSERT_TRUE(client.start_connecting(kPort));
  ASSERT_TRUE(server.answer());
  ASSERT_EQ(client.next_event(), RDMA_CM_EVENT_ESTABLISHED);
  ASSERT_EQ(server.next_event(), RDMA_CM_EVENT_ESTABLISHED);

  server.post_recv(5000);
  std::memset(client.buffer.data(), 0x5a, 5000);
  client.post_send(5000);

  EXPECT_EQ(client.next_completion(), IBV_WC_SUCCESS);
  EXPECT_EQ(server.next_completion(), IBV_WC_SUCCESS);
  EXPECT_EQ(server.buffer[4999], 0x5a);
  client.drop();
  EXPECT_EQ(server.next_event(), RDMA_CM_EVENT_DISCONNECTED);
}

class FabricDevices : public FabricConnection {
 protected:
  FabricConfig two() const {
    FabricConfig config = scratch.config();
    config.devices = 2;
    return config;
  }
  /// Whether messages go both ways; the parties have a connection.
  static void exchange(Party& server, Party& client) {
    server.post_recv(5000);
    client.post_send(5000);
    EXPECT_EQ(client.next_completion(), IBV_WC_SUCCESS);
    EXPECT_EQ(server.next_completion(), IBV_WC_SUCCESS);
  }
};

constexpr const char* kSecondDevice = "127.0.1.1";

TEST_F(FabricDevices, AnAddressChoosesTheDevice) {
  Party server(two());
  Party client(two());
  for (const char* address : {"127.0.0.1", kSecondDevice}) {
    server.listen(kPort, address);
    ASSERT_TRUE(client.start_connecting(kPort, address));
    ASSERT_TRUE(server.answer());
    ASSERT_EQ(client.next_event(), RDMA_CM_EVENT_ESTABLISHED);
    ASSERT_EQ(server.next_event(), RDMA_CM_EVENT_ESTABLISHED);
    const char* const device = address == kSecondDevice ? "anyrdma1" : "anyrdma0";
    EXPECT_STREQ(client.id().raw()->verbs->device->name, device);
    EXPECT_STREQ(server.id().raw()->verbs->device->name, device);
    exchange(server, client);
    client.drop();
    EXPECT_EQ(server.next_event(), RDMA_CM_EVENT_DISCONNECTED);
    server.drop();
  }
}

TEST_F(FabricDevices, OneFailsAndTheOtherGoesOn) {
  Party first_server(two());
  Party first_client(two());
  Party server(two());
  Party client(two());
  first_server.listen(kPort);
  server.listen(kPort + 1, kSecondDevice);
  ASSERT_TRUE(first_client.start_connecting(kPort));
  ASSERT_TRUE(first_server.answer());
  ASSERT_EQ(first_client.next_event(), RDMA_CM_EVENT_ESTABLISHED);
  ASSERT_TRUE(client.start_connecting(kPort + 1, kSecondDevice));
  ASSERT_TRUE(server.answer());
  ASSERT_EQ(client.next_event(), RDMA_CM_EVENT_ESTABLISHED);

  for (Party* const each : {&first_client, &client}) {
    const verbs::CriticalSection section(each->station().transport().runtime());
    ASSERT_TRUE(each->station().remove_device(0));
  }

  EXPECT_EQ(first_client.next_event(), RDMA_CM_EVENT_DEVICE_REMOVAL);
  exchange(server, client);
}

TEST_F(FabricConnection, WithinOneMemberToo) {
  Party both(scratch.config());
  both.listen(kPort);

  ASSERT_TRUE(both.start_connecting(kPort));

  EXPECT_EQ(both.next_event(), RDMA_CM_EVENT_CONNECT_REQUEST);
}

TEST_F(FabricConnection, NobodyListeningMeansReason8) {
  Party client(scratch.config());

  ASSERT_TRUE(client.start_connecting(kPort));

  EXPECT_EQ(client.next_event(), RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(client.status(), 8);
}

TEST_F(FabricConnection, RequestWaitsALittleForItsListener) {
  Party server(scratch.config());
  Party client(scratch.config());

  ASSERT_TRUE(client.start_connecting(kPort));
  server.listen(kPort);

  ASSERT_TRUE(server.answer());
  EXPECT_EQ(client.next_event(), RDMA_CM_EVENT_ESTABLISHED);
}

class FabricPatience : public FabricConnection,
                       public ::testing::WithParamInterface<rdma_port_space> {};
INSTANTIATE_TEST_SUITE_P(Spaces, FabricPatience, ::testing::Values(RDMA_PS_TCP, RDMA_PS_UDP),
                         [](const auto& space) {
                           return space.param == RDMA_PS_TCP ? "Connections" : "Datagrams";
                         });

TEST_P(FabricPatience, RequestWaitsLongerWhereTheLastOneFoundAListener) {
  std::optional<Party> server(scratch.config());
  Party client(scratch.config());
  server->listen(kPort);
  ASSERT_TRUE(client.start_connecting(kPort));
  ASSERT_TRUE(server->take_request());
  server.reset();
  ASSERT_EQ(client.next_event(), RDMA_CM_EVENT_REJECTED);
  const auto before = std::chrono::steady_clock::now();

  ASSERT_TRUE(client.start_connecting(kPort, "127.0.0.1", GetParam()));

  const bool connects = GetParam() == RDMA_PS_TCP;
  EXPECT_EQ(client.next_event(), connects ? RDMA_CM_EVENT_REJECTED : RDMA_CM_EVENT_UNREACHABLE);
  EXPECT_EQ(client.status(), connects ? 8 : 1);  // nobody has that service
  EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::seconds(1));
}

TEST_F(FabricConnection, RequestWaitsForAListenerOfItsOwnProcessToo) {
  Party both(scratch.config());

  ASSERT_TRUE(both.start_connecting(kPort));
  both.listen(kPort);

  EXPECT_EQ(both.next_event(), RDMA_CM_EVENT_CONNECT_REQUEST);
}

TEST_F(FabricConnection, ASecondServerOnOnePortIsRefused) {
  Party server(scratch.config());
  server.listen(kPort);
  Party other(scratch.config());

  EXPECT_THROW(other.listen(kPort), boost::system::system_error);
}

TEST_F(FabricConnection, AcrossProcesses) {
  Child child([this](const Child::Line& line) {
    Party server(scratch.config());
    server.listen(kPort);
    line.send('l');
    if (!server.accept()) return 1;
    server.post_recv(100'000);
    line.send('r');
    if (server.next_completion() != IBV_WC_SUCCESS) return 2;
    if (server.buffer[99'999] != 0x77) return 3;
    return server.next_event() == RDMA_CM_EVENT_DISCONNECTED ? 0 : 4;
  });
  ASSERT_EQ(child.receive(), 'l');
  Party client(scratch.config());

  ASSERT_TRUE(client.connect(kPort));
  ASSERT_EQ(child.receive(), 'r');
  std::memset(client.buffer.data(), 0x77, 100'000);
  client.post_send(100'000);
  EXPECT_EQ(client.next_completion(), IBV_WC_SUCCESS);
  client.drop();

  EXPECT_EQ(child.wait(), 0);
}

TEST_F(FabricConnection, RemoteWritesAndReadsProgressWhileTheTargetSleeps) {
  Child child([this](const Child::Line& line) {
    Party server(scratch.config());
    server.listen(kPort);
    line.send('l');
    if (!server.accept()) return 1;
    const ibv_mr& region = server.region();
    std::memcpy(server.buffer.data(), &region.addr, sizeof region.addr);
    std::memcpy(server.buffer.data() + sizeof region.addr, &region.rkey, sizeof region.rkey);
    server.post_send(16);
    if (server.next_completion() != IBV_WC_SUCCESS) return 2;
    (void)line.receive();  // asleep in read(2) while its memory changes
    // The thread wrote it inside the section: now that is in the past for this one, too.
    const verbs::CriticalSection section(server.station().transport().runtime());
    return server.buffer[500'000] == 0x33 ? 0 : 3;
  });
  ASSERT_EQ(child.receive(), 'l');
  Party client(scratch.config());
  ASSERT_TRUE(client.start_connecting(kPort));
  client.post_recv(16);
  ASSERT_EQ(client.next_event(), RDMA_CM_EVENT_ESTABLISHED);
  ASSERT_EQ(client.next_completion(), IBV_WC_SUCCESS);
  std::uint64_t address = 0;
  std::uint32_t rkey = 0;
  std::memcpy(&address, client.buffer.data(), sizeof address);
  std::memcpy(&rkey, client.buffer.data() + sizeof address, sizeof rkey);

  std::memset(client.buffer.data(), 0x33, 1 << 20);
  client.post_rdma(IBV_WR_RDMA_WRITE, address, rkey, 1 << 20);
  EXPECT_EQ(client.next_completion(), IBV_WC_SUCCESS);
  std::memset(client.buffer.data(), 0, 1 << 20);
  client.post_rdma(IBV_WR_RDMA_READ, address, rkey, 1 << 20);
  EXPECT_EQ(client.next_completion(), IBV_WC_SUCCESS);

  EXPECT_EQ(client.buffer[999'999], 0x33);
  child.send('e');
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(FabricConnection, AThreadCancelledInsideACallTakesNoLockAlong) {
  if (!realtime::testing::kCanCancelThreads) GTEST_SKIP() << "not under AddressSanitizer";
  Party server(scratch.config());
  Party client(scratch.config());
  server.listen(kPort);
  ASSERT_TRUE(client.start_connecting(kPort));
  ASSERT_TRUE(server.answer());
  ASSERT_EQ(client.next_event(), RDMA_CM_EVENT_ESTABLISHED);
  ibv_cq* cq = client.id().qp()->send_cq;

  for (int i = 0; i < 50; ++i) {
    pthread_t poller;
    const auto body = [](void* queue) -> void* {
      ibv_wc completion{};
      while (true) {
        (void)ibv_poll_cq(static_cast<ibv_cq*>(queue), 1, &completion);
        pthread_testcancel();
      }
    };
    ASSERT_EQ(::pthread_create(&poller, nullptr, body, cq), 0);
    ASSERT_EQ(::pthread_cancel(poller), 0);
    ASSERT_EQ(::pthread_join(poller, nullptr), 0);
    const verbs::CriticalSection section(client.station().transport().runtime());
  }
}

// --- death --------------------------------------------------------------------------------------

TEST_F(FabricDeath, AKilledPeerIsADisconnectedOne) {
  Child child([this](const Child::Line& line) {
    (void)line.receive();
    Party client(scratch.config());
    line.send(client.connect(kPort) ? 'c' : 'f');
    return line.receive();
  });
  Party server(scratch.config());
  server.listen(kPort);
  child.send('g');
  ASSERT_TRUE(server.accept());
  ASSERT_EQ(child.receive(), 'c');

  child.kill();

  EXPECT_EQ(server.next_event(), RDMA_CM_EVENT_DISCONNECTED);
}

// A timeout of 69 s: with a NIC it would take eight of them.
TEST_F(FabricDeath, WhatIsSentToAKilledPeerFailsSoonAfterTheNewsOfIt) {
  Child child([this](const Child::Line& line) {
    Party server(scratch.config());
    server.listen(kPort);
    line.send('l');
    line.send(server.accept() ? 'a' : 'f');
    return line.receive();
  });
  ASSERT_EQ(child.receive(), 'l');
  Party client(scratch.config());
  ASSERT_TRUE(client.connect(kPort));
  ASSERT_EQ(child.receive(), 'a');
  verbs::Provider& provider = verbs::provider_of(client.id().raw()->verbs);
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_SQD;
  attr.timeout = 24;
  ASSERT_TRUE(provider.modify_qp(client.id().qp(), &attr, IBV_QP_STATE));
  ASSERT_TRUE(provider.modify_qp(client.id().qp(), &attr, IBV_QP_STATE | IBV_QP_TIMEOUT));
  attr.qp_state = IBV_QPS_RTS;
  ASSERT_TRUE(provider.modify_qp(client.id().qp(), &attr, IBV_QP_STATE));

  child.kill();

  EXPECT_EQ(client.next_event(), RDMA_CM_EVENT_DISCONNECTED);
  client.post_send(8);
  EXPECT_EQ(client.next_completion(), IBV_WC_RETRY_EXC_ERR);
}

TEST_F(FabricDeath, AServerKilledBeforeItAnswersRejectsAsItsKernelWould) {
  Child child([this](const Child::Line& line) {
    Party server(scratch.config());
    server.listen(kPort);
    line.send('l');
    line.send(server.take_request() ? 't' : 'f');
    return line.receive();
  });
  ASSERT_EQ(child.receive(), 'l');
  Party client(scratch.config());
  ASSERT_TRUE(client.start_connecting(kPort));
  ASSERT_EQ(child.receive(), 't');

  child.kill();

  EXPECT_EQ(client.next_event(), RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(client.status(), 28);
}

TEST_F(FabricDeath, AProcessThatJustExitsIsSeenTooAndThePortIsFree) {
  Child child([this](const Child::Line&) {
    auto* server = new Party(scratch.config());  // never destroyed: exit without a word
    server->listen(kPort);
    return server->accept() ? 0 : 1;
  });
  Party client(scratch.config());
  // Until it listens, nobody does.
  ASSERT_TRUE(eventually([&] {
    client.drop();
    return client.connect(kPort);
  }));

  EXPECT_EQ(client.next_event(), RDMA_CM_EVENT_DISCONNECTED);
  ASSERT_EQ(child.wait(), 0);

  client.listen(kPort);
}

// --- fork ---------------------------------------------------------------------------------------

TEST_F(FabricFork, AChildIsCutOffAndMayJoinAnew) {
  Party server(scratch.config());
  server.listen(kPort);
  Party mine(scratch.config());

  Child child([&](const Child::Line&) {
    if (!mine.station().forked() || !server.station().forked()) return 1;
    Party own(scratch.config());
    if (own.station().forked()) return 2;
    return own.connect(kPort) ? 0 : 3;
  });
  ASSERT_TRUE(server.accept());

  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(server.next_event(), RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_FALSE(mine.station().forked());
}

TEST_F(FabricFork, AChildMayDestroyWhatItInheritedWithoutHarmToTheParent) {
  Party server(scratch.config());
  server.listen(kPort);
  auto client = std::make_unique<Party>(scratch.config());
  ASSERT_TRUE(client->start_connecting(kPort));
  ASSERT_TRUE(server.answer());
  ASSERT_EQ(client->next_event(), RDMA_CM_EVENT_ESTABLISHED);
  ASSERT_EQ(server.next_event(), RDMA_CM_EVENT_ESTABLISHED);

  Child child([&](const Child::Line&) {
    client.reset();
    return 0;
  });
  ASSERT_EQ(child.wait(), 0);

  server.post_recv(8);
  client->post_send(8);
  EXPECT_EQ(client->next_completion(), IBV_WC_SUCCESS);
  EXPECT_EQ(server.next_completion(), IBV_WC_SUCCESS);
}

TEST_F(FabricFork, AParentsDeathIsSeenAlthoughItsChildLives) {
  Party server(scratch.config());
  server.listen(kPort);
  Child parent([&](const Child::Line& line) {
    Party client(scratch.config());
    if (!client.connect(kPort)) return 1;
    if (::fork() == 0) {
      line.send('c');
      (void)line.receive();  // lives until the test has ended
      ::_exit(0);
    }
    (void)line.receive();
    return 0;
  });
  ASSERT_TRUE(server.accept());
  ASSERT_EQ(parent.receive(), 'c');

  parent.kill();

  EXPECT_EQ(server.next_event(), RDMA_CM_EVENT_DISCONNECTED);
}

// --- cost ---------------------------------------------------------------------------------------

TEST_F(FabricCost, WhoPollsInVainLeavesTheProcessorToOthers) {
  Child child([this](const Child::Line& line) {
    Party server(scratch.config());
    server.listen(kPort);
    line.send('l');
    if (!server.accept()) return 1;
    (void)line.receive();  // asleep
    return 0;
  });
  ASSERT_EQ(child.receive(), 'l');
  Party client(scratch.config());
  ASSERT_TRUE(client.connect(kPort));

  yields = 0;
  ibv_wc completion{};
  int polls = 0;
  for (; yields == 0 && polls < 10'000; ++polls)
    ASSERT_EQ(ibv_poll_cq(client.id().qp()->send_cq, 1, &completion), 0);

  // About a hundred; again as many after the last words of connecting, if they come late.
  EXPECT_LT(polls, 1000);
  child.send('e');
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(FabricConnection, NothingHasArrivedIsTrueWhenItIsSaid) {
  Child child([this](const Child::Line& line) {
    Party server(scratch.config());
    server.listen(kPort);
    line.send('l');
    if (!server.accept()) return 1;
    (void)line.receive();
    server.post_send(8);
    line.send('s');
    return server.next_completion() == IBV_WC_SUCCESS ? 0 : 2;
  });
  ASSERT_EQ(child.receive(), 'l');
  Party client(scratch.config());
  ASSERT_TRUE(client.connect(kPort));
  client.post_recv(8);

  const std::function<void()> others = [&] {
    while_yielding = nullptr;
    child.send('g');
    EXPECT_EQ(child.receive(), 's');
  };
  while_yielding = &others;
  ibv_wc completion{};
  int got = 0;
  for (int polls = 0; while_yielding != nullptr && polls < 10'000; ++polls)
    got = ibv_poll_cq(client.id().qp()->recv_cq, 1, &completion);

  // The poll that let others have the processor knows what they did with it.
  EXPECT_EQ(while_yielding, nullptr);
  EXPECT_EQ(got, 1);
  EXPECT_EQ(completion.opcode, IBV_WC_RECV);
  EXPECT_EQ(child.wait(), 0);
}

/// As who has nothing else to do; from now on peers may rely on it. Most of these polls leave the
/// processor to others, who keep it for milliseconds on a busy machine.
void poll_in_vain(Party& party) {
  ibv_wc completion{};
  for (int i = 0; i < 300; ++i) (void)ibv_poll_cq(party.id().qp()->send_cq, 1, &completion);
}

TEST_F(FabricCost, WhoStopsPollingForEverIsServedAllTheSame) {
  constexpr int kMessages = 10;
  Child child([this](const Child::Line& line) {
    Party server(scratch.config());
    server.listen(kPort);
    line.send('l');
    if (!server.accept()) return 1;
    for (int i = 0; i < kMessages; ++i) server.post_recv(8);
    do {
      poll_in_vain(server);
      line.send('p');
    } while (line.receive() == 'm');  // asleep in read(2)
    return 0;
  });
  ASSERT_EQ(child.receive(), 'l');
  Party client(scratch.config());
  ASSERT_TRUE(client.connect(kPort));

  for (int i = 0; i < kMessages; ++i) {
    ASSERT_EQ(child.receive(), 'p');
    client.post_send(8);
    ASSERT_EQ(client.next_completion(), IBV_WC_SUCCESS) << i;
    child.send(i + 1 < kMessages ? 'm' : 'e');
  }

  EXPECT_EQ(child.wait(), 0);
}

TEST_F(FabricDeath, APeerKilledWhileItWritesIsADisconnectedOne) {
  Child child([this](const Child::Line& line) {
    Party client(scratch.config());
    (void)line.receive();
    if (!client.connect(kPort)) return 1;
    line.send('c');
    while (true) {  // until it is killed, perhaps in the middle of a record
      client.post_send(1 << 16);
      if (client.next_completion() != IBV_WC_SUCCESS) return 2;
    }
  });
  Party server(scratch.config());
  server.listen(kPort);
  child.send('g');
  ASSERT_TRUE(server.answer());
  for (int i = 0; i < 50; ++i) server.post_recv(1 << 16);
  ASSERT_EQ(server.next_event(), RDMA_CM_EVENT_ESTABLISHED);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(server.next_completion(), IBV_WC_SUCCESS);

  child.kill();

  EXPECT_EQ(server.next_event(), RDMA_CM_EVENT_DISCONNECTED);
}

/// Whether nothing will wake a thread of this process within a second but what arrives: all others
/// sleep, and no timer rings. Who looks every few milliseconds has one that does.
bool rests() {
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    if (thread.path().filename() == std::to_string(::gettid())) continue;
    std::ifstream file(thread.path() / "stat");
    const std::string stat(std::istreambuf_iterator<char>(file), {});
    if (stat.find(") S ") == std::string::npos) return false;
  }
  for (const auto& descriptor : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::ifstream file(descriptor.path());
    const std::string info(std::istreambuf_iterator<char>(file), {});
    const std::size_t at = info.find("it_value: (0, ");
    if (at != std::string::npos && info.find("it_value: (0, 0)", at) != at) return false;
  }
  return true;
}

TEST_F(FabricCost, AConnectedProcessThatSleepsIsWokenByNothing) {
  Child child([this](const Child::Line& line) {
    (void)line.receive();
    Party client(scratch.config());
    if (!client.connect(kPort)) return 1;
    poll_in_vain(client);
    int in_a_row = 0;  // a timer that has just rung, and is not set yet, could be taken for none
    return eventually([&] { return (in_a_row = rests() ? in_a_row + 1 : 0) == 100; }) ? 0 : 2;
  });
  Party server(scratch.config());
  server.listen(kPort);
  child.send('g');
  ASSERT_TRUE(server.accept());

  EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace anyrdma::transport::fabric

/// Counts how often the calling thread gives its processor away, and lets the test say who has it.
extern "C" int sched_yield() noexcept {
  using namespace anyrdma::transport::fabric;
  ++yields;
  if (while_yielding != nullptr) (*while_yielding)();
  return static_cast<int>(::syscall(SYS_sched_yield));
}
