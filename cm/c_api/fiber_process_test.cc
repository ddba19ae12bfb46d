// C programs that return without cleaning up, as processes of fibers: what their kernel does.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "sim/check/checkers.h"
#include "sim/testing/audit.h"
#include "sim/world.h"

namespace anyrdma::c_api {
namespace {

using namespace std::chrono_literals;

/// Programs that leave their cleaning up to the kernel, on hosts that checkers watch.
class FiberProcess : public ::testing::Test {
 protected:
  static sockaddr_in address_of_server() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(7471);
    address.sin_addr.s_addr = htonl(0x0a000001);
    return address;
  }
  static rdma_cm_event* next(rdma_event_channel* channel, rdma_cm_event_type type) {
    rdma_cm_event* event = nullptr;
    EXPECT_EQ(rdma_get_cm_event(channel, &event), 0) << strerror(errno);
    EXPECT_STREQ(event == nullptr ? "none" : rdma_event_str(event->event), rdma_event_str(type));
    return event;
  }
  static rdma_cm_event* next_acknowledged(rdma_event_channel* channel, rdma_cm_event_type type) {
    rdma_cm_event* event = next(channel, type);
    if (event != nullptr) rdma_ack_cm_event(event);
    return event;
  }
  static void make_qp(rdma_cm_id* id) {
    ibv_qp_init_attr attr{};
    attr.qp_type = IBV_QPT_RC;
    attr.sq_sig_all = 1;
    attr.cap.max_send_wr = attr.cap.max_recv_wr = 4;
    attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
    EXPECT_EQ(rdma_create_qp(id, nullptr, &attr), 0) << strerror(errno);
  }
  static rdma_cm_id* listen(rdma_event_channel* channel) {
    rdma_cm_id* id = nullptr;
    sockaddr_in address = address_of_server();
    EXPECT_EQ(rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP), 0);
    EXPECT_EQ(rdma_bind_addr(id, reinterpret_cast<sockaddr*>(&address)), 0);
    EXPECT_EQ(rdma_listen(id, 4), 0);
    return id;
  }
  /// With every event that it is shown left unacknowledged.
  static rdma_cm_id* request(rdma_event_channel* channel) {
    rdma_cm_id* id = nullptr;
    sockaddr_in address = address_of_server();
    EXPECT_EQ(rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP), 0);
    EXPECT_EQ(rdma_resolve_addr(id, nullptr, reinterpret_cast<sockaddr*>(&address), 1000), 0);
    next(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
    EXPECT_EQ(rdma_resolve_route(id, 1000), 0);
    next(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
    make_qp(id);
    EXPECT_EQ(rdma_connect(id, nullptr), 0);
    return id;
  }
  /// A client that is connected, has memory registered and receives posted, and returns.
  static void connect_and_leave() {
    static char memory[64];
    rdma_event_channel* channel = rdma_create_event_channel();
    rdma_cm_id* id = request(channel);
    ibv_mr* mr = rdma_reg_msgs(id, memory, sizeof memory);
    EXPECT_EQ(rdma_post_recv(id, nullptr, memory, sizeof memory, mr), 0);
    next(channel, RDMA_CM_EVENT_ESTABLISHED);
  }
  /// A server that cleans up; what came after the connection was there.
  void serve_properly() {
    rdma_event_channel* channel = rdma_create_event_channel();
    rdma_cm_id* listener = listen(channel);
    rdma_cm_event* event = next(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
    rdma_cm_id* id = event->id;
    rdma_ack_cm_event(event);
    make_qp(id);
    EXPECT_EQ(rdma_accept(id, nullptr), 0);
    next_acknowledged(channel, RDMA_CM_EVENT_ESTABLISHED);
    next_acknowledged(channel, RDMA_CM_EVENT_DISCONNECTED);
    parted_at = world.now().time_since_epoch();
    rdma_disconnect(id);
    rdma_destroy_qp(id);
    EXPECT_EQ(rdma_destroy_id(id), 0);
    EXPECT_EQ(rdma_destroy_id(listener), 0);
    rdma_destroy_event_channel(channel);
  }
  [[nodiscard]] static bool is_empty(sim::Host& host) {
    const verbs::soft::Census left = host.hca().census();
    return left.queue_pairs + left.completion_queues + left.completion_channels +
               left.memory_regions + left.protection_domains + left.address_handles ==
           0;
  }

  sim::Duration parted_at{};
  sim::World world{1};
  sim::Host& server = world.add_host("server", {"10.0.0.1"});
  sim::Host& client = world.add_host("client", {"10.0.0.2"});
};

TEST_F(FiberProcess, WhoIsKilledInAWaitIsPartedByItsKernelAndDoesNothingMore) {
  bool went_on = false;
  bool other_went_on = false;
  server.spawn("main", [this] { serve_properly(); });
  client.spawn_process("main", [&] {
    connect_and_leave();
    client.spawn("thread", [&] { went_on |= client.sleep(2s); });
    client.sleep(2s);
    went_on = true;
  });
  client.spawn_process("other", [&] { other_went_on = client.sleep(2s); });
  const auto plan = sim::FaultPlan::parse("at 1s: kill client/main\n").value();
  ASSERT_TRUE(world.faults().inject(plan));

  ASSERT_TRUE(world.run()) << world.stuck_report();

  EXPECT_FALSE(went_on);
  EXPECT_TRUE(other_went_on);
  EXPECT_EQ(world.faults().status().front().observed, 1u);
  EXPECT_GE(parted_at, 1s);
  EXPECT_LT(parted_at, 1100ms);
  EXPECT_TRUE(is_empty(client));
}

TEST_F(FiberProcess, OfSeveralWithOneNameTheOneThatIsMeantIsKilled) {
  std::vector<int> ended;
  for (int i = 1; i <= 3; ++i) {
    client.spawn_process("main", [&, i] {
      rdma_event_channel* channel = rdma_create_event_channel();
      rdma_cm_id* id = nullptr;
      EXPECT_EQ(rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP), 0);
      client.sleep(std::chrono::seconds(i + 1));
      ended.push_back(i);
    });
  }
  const auto plan = sim::FaultPlan::parse("at 1s: kill client/main#2\nat 5s: kill client/main#3\n");
  ASSERT_TRUE(world.faults().inject(plan.value()));

  ASSERT_TRUE(world.run()) << world.stuck_report();

  EXPECT_THAT(ended, ::testing::ElementsAre(1, 3));
  EXPECT_EQ(world.faults().status()[0].observed, 1u);
  EXPECT_EQ(world.faults().status()[1].observed, 0u);  // it had ended
}

TEST_F(FiberProcess, WhoWaitsForAnEventWhenItIsKilledEndsThere) {
  server.spawn_process("main", [] {
    rdma_event_channel* channel = rdma_create_event_channel();
    listen(channel);
    rdma_cm_event* event = nullptr;
    rdma_get_cm_event(channel, &event);
    ADD_FAILURE() << "it goes on";
  });
  ASSERT_TRUE(world.faults().inject(sim::FaultPlan::parse("at 1s: kill server/main\n").value()));

  ASSERT_TRUE(world.run()) << world.stuck_report();

  EXPECT_TRUE(is_empty(server));
}

TEST_F(FiberProcess, APlanThatKillsWhoIsNotThereIsRefused) {
  server.spawn_process("main", [] {});

  for (const auto& [line, reason] : std::vector<std::pair<std::string, std::string>>{
           {"at 1s: kill server/mian", "no program 'mian' on that host"},
           {"at 1s: kill server/main#2",
            "no program 'main#2' on that host, which starts 1 of that name"},
           {"at 1s: kill sever/main", "no host 'sever'"}}) {
    const auto injected = world.faults().inject(sim::FaultPlan::parse(line + "\n").value());
    ASSERT_FALSE(injected) << line;
    EXPECT_EQ(injected.error().reason, reason);
  }
}

TEST_F(FiberProcess, WhoReturnsFromAConnectionIsPartedByItsKernel) {
  server.spawn("main", [this] { serve_properly(); });
  client.spawn_process("main", [this] {
    connect_and_leave();
    client.sleep(1s);
  });

  ASSERT_TRUE(world.run()) << world.stuck_report();

  EXPECT_GE(parted_at, 1s);
  EXPECT_LT(parted_at, 1s + 1ms);
  EXPECT_THAT(world.trace().text(), ::testing::HasSubstr("client -> server DREQ"));
  EXPECT_EQ(client.transport().endpoints(), 0u);
  EXPECT_TRUE(is_empty(client));
}

TEST_F(FiberProcess, ARequestInTheHandsOfWhoReturnsIsRejected) {
  server.spawn_process("main", [] {
    rdma_event_channel* channel = rdma_create_event_channel();
    listen(channel);
    make_qp(next(channel, RDMA_CM_EVENT_CONNECT_REQUEST)->id);
  });
  int status = 0;
  client.spawn_process("main", [&] {
    rdma_event_channel* channel = rdma_create_event_channel();
    request(channel);
    status = next(channel, RDMA_CM_EVENT_REJECTED)->status;
  });

  ASSERT_TRUE(world.run()) << world.stuck_report();

  EXPECT_EQ(status, 28);
  EXPECT_TRUE(is_empty(server));
  EXPECT_TRUE(is_empty(client));
}

TEST_F(FiberProcess, SynchronousIdsAndDevicesOpenedByNameGoToo) {
  server.spawn_process("main", [] {
    rdma_cm_id* id = nullptr;
    rdma_cm_id* accepted = nullptr;
    sockaddr_in address = address_of_server();
    EXPECT_EQ(rdma_create_id(nullptr, &id, nullptr, RDMA_PS_TCP), 0);
    EXPECT_EQ(rdma_bind_addr(id, reinterpret_cast<sockaddr*>(&address)), 0);
    EXPECT_EQ(rdma_listen(id, 4), 0);
    EXPECT_EQ(rdma_get_request(id, &accepted), 0);
  });
  client.spawn_process("main", [] {
    rdma_event_channel* channel = rdma_create_event_channel();
    request(channel);
    next(channel, RDMA_CM_EVENT_REJECTED);
    ibv_device** list = ibv_get_device_list(nullptr);
    ibv_context* context = ibv_open_device(list[0]);
    ibv_free_device_list(list);
    ibv_comp_channel* completions = ibv_create_comp_channel(context);
    EXPECT_NE(ibv_create_cq(context, 4, nullptr, completions, 0), nullptr);
    EXPECT_NE(ibv_alloc_pd(context), nullptr);
  });

  ASSERT_TRUE(world.run()) << world.stuck_report();

  EXPECT_TRUE(is_empty(server));
  EXPECT_TRUE(is_empty(client));
}

TEST_F(FiberProcess, TheLastOfItsFibersEndsIt) {
  server.spawn("main", [this] { serve_properly(); });
  client.spawn_process("main", [this] {
    connect_and_leave();
    client.spawn("thread", [this] { client.sleep(5s); });
  });

  ASSERT_TRUE(world.run()) << world.stuck_report();

  EXPECT_GE(parted_at, 5s);
}

TEST_F(FiberProcess, WhatAnotherProcessOfTheHostHasIsLeftAlone) {
  ibv_context* seen[2] = {};
  ibv_context* own = nullptr;
  const auto bind = [](rdma_event_channel* channel) {
    rdma_cm_id* id = nullptr;
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(0x0a000002);
    EXPECT_EQ(rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP), 0);
    EXPECT_EQ(rdma_bind_addr(id, reinterpret_cast<sockaddr*>(&any)), 0);
    return id;
  };
  client.spawn_process("short", [&] { seen[0] = bind(rdma_create_event_channel())->verbs; });
  client.spawn("test's own", [&] {
    rdma_event_channel* channel = rdma_create_event_channel();
    rdma_cm_id* id = bind(channel);
    own = id->verbs;
    client.sleep(1s);
    ibv_pd* pd = ibv_alloc_pd(id->verbs);
    EXPECT_EQ(ibv_dealloc_pd(pd), 0);
    EXPECT_EQ(rdma_destroy_id(id), 0);
    rdma_destroy_event_channel(channel);
  });
  client.spawn_process("long", [&] {
    rdma_cm_id* id = bind(rdma_create_event_channel());
    seen[1] = id->verbs;
    client.sleep(1s);
    EXPECT_NE(ibv_alloc_pd(id->verbs), nullptr);
  });

  ASSERT_TRUE(world.run()) << world.stuck_report();

  EXPECT_NE(seen[0], seen[1]);
  EXPECT_NE(seen[0], own);
  EXPECT_TRUE(is_empty(client));
}

TEST_F(FiberProcess, AServerThatWaitsForEverGoesWithTheWorld) {
  server.spawn_process(
      "main",
      [] {
        rdma_event_channel* channel = rdma_create_event_channel();
        listen(channel);
        rdma_cm_event* event = nullptr;
        EXPECT_EQ(rdma_get_cm_event(channel, &event), -1);
      },
      sim::Ending::kMayServe);

  ASSERT_TRUE(world.run()) << world.stuck_report();
}

TEST_F(FiberProcess, OneWhoseHostCrashesIsSilent) {
  server.spawn_process("main", [] {
    rdma_event_channel* channel = rdma_create_event_channel();
    listen(channel);
    next(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
    rdma_cm_event* event = nullptr;
    EXPECT_EQ(rdma_get_cm_event(channel, &event), -1);
  });
  int status = 0;
  client.spawn_process("main", [&] {
    rdma_event_channel* channel = rdma_create_event_channel();
    request(channel);
    status = next(channel, RDMA_CM_EVENT_UNREACHABLE)->status;
  });
  world.run_for(1s);
  ASSERT_TRUE(server.power().crash());

  ASSERT_TRUE(world.run()) << world.stuck_report();

  EXPECT_EQ(status, -ETIMEDOUT);
}

/// What checkers find in the end.
std::vector<std::string> found;

TEST(LoudFiberProcess, LeavingSomethingBehindIsAFinding) {
  struct Kept final : sim::check::Checkers {
    void on_end(sim::World& world) override {
      Checkers::on_end(world);
      found = violations();
    }
  };
  const sim::testing::Unaudited nobody_else;
  sim::Monitor::install([]() -> std::unique_ptr<sim::Monitor> { return std::make_unique<Kept>(); });
  {
    sim::World world(1);
    sim::Host& host = world.add_host("client", {"10.0.0.1"});
    host.spawn_process(
        "main",
        [] {
          rdma_cm_id* id = nullptr;
          EXPECT_EQ(rdma_create_id(rdma_create_event_channel(), &id, nullptr, RDMA_PS_TCP), 0);
        },
        sim::Ending::kMustEnd, true);
    EXPECT_TRUE(world.run()) << world.stuck_report();
  }

  EXPECT_EQ(found, std::vector<std::string>{"misuse: client: exit: client/main: left behind: 1 id, "
                                            "1 event channel (at 0.000000000 s by client/main)"});
}

}  // namespace
}  // namespace anyrdma::c_api
