// C programs on simulated hosts: which host a call is for, what blocks and what is private to each.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "cm/c_api/request_pace.h"
#include "sim/check/checkers.h"
#include "sim/testing/audit.h"
#include "sim/world.h"

namespace anyrdma::c_api {
namespace {

using namespace std::chrono_literals;

class CInWorld : public ::testing::Test {
 protected:
  static sockaddr_in server_address() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(7471);
    address.sin_addr.s_addr = htonl(0x0a000001);
    return address;
  }
  /// Runs `body` as the only program of `host`.
  template <class Body>
  void run_on(sim::Host& host, Body&& body) {
    host.spawn("main", std::forward<Body>(body));
    ASSERT_TRUE(world.run()) << world.stuck_report();
  }
  static rdma_cm_id* listen(rdma_event_channel* channel) {
    rdma_cm_id* id = nullptr;
    sockaddr_in address = server_address();
    EXPECT_EQ(rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP), 0);
    EXPECT_EQ(rdma_bind_addr(id, reinterpret_cast<sockaddr*>(&address)), 0);
    EXPECT_EQ(rdma_listen(id, 4), 0);
    return id;
  }
  /// Asks for a connection from a fresh id, and waits for nothing after that.
  static rdma_cm_id* ask(rdma_event_channel* channel) {
    rdma_cm_id* id = nullptr;
    sockaddr_in address = server_address();
    EXPECT_EQ(rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP), 0);
    EXPECT_EQ(rdma_resolve_addr(id, nullptr, reinterpret_cast<sockaddr*>(&address), 1000), 0);
    take(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
    EXPECT_EQ(rdma_resolve_route(id, 1000), 0);
    take(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
    rdma_conn_param param{};
    static std::uint32_t qpn = 0x100;
    param.qp_num = ++qpn;  // one twice would be a stale connection
    EXPECT_EQ(rdma_connect(id, &param), 0);
    return id;
  }
  /// The id of the next event, which must be of that type; acknowledged.
  static rdma_cm_id* take(rdma_event_channel* channel, rdma_cm_event_type type) {
    rdma_cm_event* event = nullptr;
    if (rdma_get_cm_event(channel, &event) != 0) {
      ADD_FAILURE() << strerror(errno) << " instead of " << rdma_event_str(type);
      return nullptr;
    }
    EXPECT_EQ(event->event, type);
    rdma_cm_id* id = event->id;
    EXPECT_EQ(rdma_ack_cm_event(event), 0);
    return id;
  }

  sim::World world{1};
  sim::Host& server = world.add_host("server", {"10.0.0.1"});
  sim::Host& client = world.add_host("client", {"10.0.0.2"});
};

TEST_F(CInWorld, OutsideOfAllProgramsThereIsNoDevice) {
  EXPECT_EQ(sim::Host::current(), nullptr);
  EXPECT_EQ(rdma_create_event_channel(), nullptr);
  EXPECT_EQ(errno, ENODEV);
  EXPECT_EQ(ibv_get_device_list(nullptr), nullptr);
  EXPECT_EQ(errno, ENODEV);
}

TEST_F(CInWorld, DescriptorsAreNoneThatCouldBePolled) {
  run_on(server, [] {
    rdma_event_channel* channel = rdma_create_event_channel();
    const int poller = ::epoll_create1(0);
    epoll_event event{};
    EXPECT_EQ(::epoll_ctl(poller, EPOLL_CTL_ADD, channel->fd, &event), -1);
    EXPECT_EQ(errno, EBADF);
    EXPECT_EQ(::fcntl(channel->fd, F_SETFL, O_NONBLOCK), -1);
    EXPECT_EQ(errno, EBADF);
    ::close(poller);
    rdma_destroy_event_channel(channel);
  });
}

TEST_F(CInWorld, TheDevicesAreThoseOfTheHostThatAsks) {
  sim::Host& rich = world.add_host(
      "rich", {.interfaces = {{.addresses = {"10.0.1.1"}}, {.addresses = {"10.0.2.1"}}}});
  sim::Host& poor =
      world.add_host("poor", {.interfaces = {{.addresses = {"10.0.3.1"}, .rdma = false}}});
  std::vector<std::string> seen;
  const auto look = [&] {
    int count = -1;
    ibv_device** list = ibv_get_device_list(&count);
    for (int i = 0; i < count; ++i) {
      ibv_context* context = ibv_open_device(list[i]);
      ASSERT_NE(context, nullptr);
      seen.push_back(sim::Host::current()->name() + " " + ibv_get_device_name(list[i]));
      EXPECT_EQ(ibv_close_device(context), 0);
    }
    ibv_free_device_list(list);
  };

  run_on(rich, look);
  run_on(server, look);
  run_on(poor, [&] {
    look();
    EXPECT_EQ(rdma_create_event_channel(), nullptr);
    EXPECT_EQ(errno, ENODEV);
  });

  EXPECT_EQ(seen, (std::vector<std::string>{"rich anyrdma0", "rich anyrdma1", "server anyrdma0"}));
}

TEST_F(CInWorld, ADeviceOfAnotherHostIsNotOurs) {
  ibv_device* of_the_server = nullptr;
  run_on(server, [&] {
    ibv_device** list = ibv_get_device_list(nullptr);
    of_the_server = list[0];
    ibv_free_device_list(list);
  });

  run_on(client, [&] {
    EXPECT_EQ(ibv_open_device(of_the_server), nullptr);
    EXPECT_EQ(errno, ENODEV);
  });
}

TEST_F(CInWorld, ErrnoIsEachProgramsOwn) {
  int after = 0;
  server.spawn("main", [&] {
    errno = EBADE;
    server.sleep(1s);
    after = errno;
  });
  client.spawn("main", [&] {
    EXPECT_EQ(errno, 0) << "a program starts without an error";
    errno = EXDEV;
    client.sleep(2s);
    EXPECT_EQ(errno, EXDEV);
  });
  errno = EDOM;

  ASSERT_TRUE(world.run());

  EXPECT_EQ(after, EBADE);
  EXPECT_EQ(errno, EDOM);
}

TEST_F(CInWorld, AProgramMayRunAWorldOfItsOwn) {
  run_on(server, [&] {
    sim::World inner(1);
    sim::Host& host = inner.add_host("inner", {"10.0.0.1"});
    host.spawn("main", [&] { EXPECT_EQ(sim::Host::current(), &host); });
    EXPECT_TRUE(inner.run());
    EXPECT_EQ(sim::Host::current(), &server);
  });
  EXPECT_EQ(sim::Host::current(), nullptr);
}

TEST_F(CInWorld, RequestsAreHandedOutWithoutRealTimePassing) {
  server.spawn("main", [&] {
    rdma_event_channel* channel = rdma_create_event_channel();
    rdma_cm_id* listener = listen(channel);
    rdma_cm_id* first = take(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
    EXPECT_TRUE(RequestPace::wait()) << "nobody has begun to work on the request, yet nobody waits";
    rdma_cm_id* second = take(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
    for (rdma_cm_id* id : {first, second, listener}) EXPECT_EQ(rdma_destroy_id(id), 0);
    rdma_destroy_event_channel(channel);
  });
  client.spawn("main", [&] {
    rdma_event_channel* channel = rdma_create_event_channel();
    rdma_cm_id* first = ask(channel);
    rdma_cm_id* second = ask(channel);
    take(channel, RDMA_CM_EVENT_REJECTED);
    take(channel, RDMA_CM_EVENT_REJECTED);
    for (rdma_cm_id* id : {first, second}) EXPECT_EQ(rdma_destroy_id(id), 0);
    rdma_destroy_event_channel(channel);
  });

  ASSERT_TRUE(world.run()) << world.stuck_report();
}

TEST_F(CInWorld, AProgramThatWaitsOnADestroyedChannelWaitsUntilTheWorldEnds) {
  int error = 0;
  {
    sim::World doomed(1);
    sim::Host& host = doomed.add_host("host", {"10.0.0.1"});
    rdma_event_channel* channel = nullptr;
    host.spawn("waits", [&] {
      channel = rdma_create_event_channel();
      rdma_cm_event* event = nullptr;
      EXPECT_EQ(rdma_get_cm_event(channel, &event), -1);
      error = errno;
    });
    host.spawn("destroys", [&] { rdma_destroy_event_channel(channel); });

    EXPECT_FALSE(doomed.run());

    EXPECT_EQ(doomed.stuck_report(),
              "host/waits waits for an event on an event channel since "
              "0.000000000 s\n");
    EXPECT_EQ(error, 0);
  }
  EXPECT_EQ(error, EDEADLK);
}

// Under AddressSanitizer this finds a channel that was freed: the event has woken the one program,
// and before it runs the other destroys the channel.
TEST_F(CInWorld, AChannelDestroyedBetweenTheEventAndItsFetchJustStaysSilent) {
  rdma_event_channel* channel = nullptr;
  rdma_cm_id* id = nullptr;
  bool fetched = false;
  {
    sim::World doomed(1);
    sim::Host& host = doomed.add_host("host", {"10.0.0.1"});
    host.spawn("waits", [&] {
      channel = rdma_create_event_channel();
      rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP);
      rdma_cm_event* event = nullptr;
      fetched = rdma_get_cm_event(channel, &event) == 0;
    });
    host.spawn("destroys", [&] {
      sockaddr_in address = server_address();  // its own: resolved at once
      EXPECT_EQ(rdma_resolve_addr(id, nullptr, reinterpret_cast<sockaddr*>(&address), 1000), 0);
      rdma_destroy_event_channel(channel);
      EXPECT_EQ(rdma_destroy_id(id), 0);
    });

    EXPECT_FALSE(doomed.run());
  }

  EXPECT_FALSE(fetched);
}

/// What checkers find in the world of a program that breaks the rules.
class CMisuse : public ::testing::Test {
 protected:
  CMisuse() {
    found.clear();
    sim::Monitor::install(
        []() -> std::unique_ptr<sim::Monitor> { return std::make_unique<Kept>(); });
  }
  template <class Program>
  static void run(Program&& program) {
    sim::World world(1);
    sim::Host& host = world.add_host("client", {"10.0.0.1"});
    host.spawn("main", [&] { program(host); });
    EXPECT_TRUE(world.run()) << world.stuck_report();
  }
  /// An id with its ADDR_RESOLVED in hand.
  static rdma_cm_event* resolve(rdma_event_channel* channel, rdma_cm_id*& id) {
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_port = htons(7471);
    own.sin_addr.s_addr = htonl(0x0a000001);
    rdma_cm_event* event = nullptr;
    EXPECT_EQ(rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP), 0);
    EXPECT_EQ(rdma_resolve_addr(id, nullptr, reinterpret_cast<sockaddr*>(&own), 1000), 0);
    EXPECT_EQ(rdma_get_cm_event(channel, &event), 0);
    return event;
  }

  inline static std::vector<std::string> found;

 private:
  struct Kept final : sim::check::Checkers {
    void on_end(sim::World& world) override {
      Checkers::on_end(world);
      found = violations();
    }
  };
  const sim::testing::Unaudited nobody_looks_;
};

TEST_F(CMisuse, ADoubleAcknowledgementFailsAndIsFoundByItsHostIdEventAndTime) {
  run([](sim::Host& host) {
    rdma_event_channel* channel = rdma_create_event_channel();
    rdma_cm_id* id = nullptr;
    rdma_cm_event* event = resolve(channel, id);
    host.sleep(1s);
    EXPECT_EQ(rdma_ack_cm_event(event), 0);
    EXPECT_EQ(rdma_ack_cm_event(event), -1);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(rdma_destroy_id(id), 0);
    rdma_destroy_event_channel(channel);
  });

  EXPECT_EQ(found, std::vector<std::string>{
                       "misuse: client: rdma_ack_cm_event: id 1: ADDR_RESOLVED status 0 was "
                       "acknowledged already; it was fetched at 0.000000000 s by client/main (at "
                       "1.000000000 s by client/main)"});
}

TEST_F(CMisuse, WhatAProgramLeavesBehindIsFoundAndEndsNothing) {
  static rdma_event_channel* channel = nullptr;
  static rdma_cm_id* id = nullptr;

  run([](sim::Host&) {
    channel = rdma_create_event_channel();
    EXPECT_EQ(rdma_ack_cm_event(resolve(channel, id)), 0);
  });

  EXPECT_EQ(std::count(found.begin(), found.end(), "legality: client#1: never destroyed"), 1);
}

TEST_F(CMisuse, WithoutCheckersALineOnStderrSaysIt) {
  static rdma_event_channel* channel = nullptr;
  static rdma_cm_id* id = nullptr;
  sim::Monitor::install(nullptr);

  ::testing::internal::CaptureStderr();
  run([](sim::Host&) {
    channel = rdma_create_event_channel();
    EXPECT_EQ(rdma_ack_cm_event(resolve(channel, id)), 0);
  });

  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(
      said.find("anyrdma: the program's mistake: client: rdma_destroy_id: 1 of the host's ids: "
                "never destroyed, and the world ends"),
      0u)
      << said;
}

}  // namespace
}  // namespace anyrdma::c_api
