// Section F: Device removal, address change, port events
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <list>
#include <optional>
#include <vector>

#include "sim/explore/explore.h"
#include "tests/museum/exhibit.h"
#include "tests/semantics/scenario.h"
#include "verbs/runtime.h"

namespace anyrdma::museum {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using verbs::Result;

// --- 36: the target -----------------------------------------------------------------------------

enum class Bug { kNone, kTakesThePortForAConnection, kReadsOneAsyncEventTooMany };

/// A storage target in short: a port to listen on, connections, a thread for events of the device.
class Target {
 public:
  Target(sim::Host& host, Bug bug) : program_(host), bug_(bug) {}

  void run() {
    watched_->set_purpose("the end of the thread for events of the device");
    port_.kind = Kind::kPort;
    auto listener = program_.listen(program_.host().address(kPort));
    listener->raw()->context = &port_;
    program_.host().spawn(
        "device",
        [this, verbs = listener->raw()->verbs] {
          watch(verbs);
          watched_->post();
        },
        sim::Ending::kMayServe);
    while (serving_) {
      std::optional<cm::Event> event = program_.next();
      if (!event) return;
      handle(std::move(*event));
    }
    listener.reset();
    (void)watched_->wait().has_value();
  }

  [[nodiscard]] bool crashed() const { return crashed_; }

 private:
  enum class Kind { kPort, kConnection };
  /// What an id's context points to.
  struct Object {
    Kind kind = Kind::kConnection;
    std::unique_ptr<cm::Id> id;
    std::unique_ptr<Pipe> pipe;  // before its id
  };

  void watch(ibv_context* verbs) {
    ibv_async_event event{};
    while (ibv_get_async_event(verbs, &event) == 0) {
      ibv_ack_async_event(&event);
      // The mended thread: nothing comes after that.
      if (bug_ != Bug::kReadsOneAsyncEventTooMany && event.event_type == IBV_EVENT_DEVICE_FATAL) {
        return;
      }
    }
  }

  void handle(cm::Event event) {
    auto& object = *static_cast<Object*>(event.id().context());
    const rdma_cm_event_type type = event.type();
    if (type == RDMA_CM_EVENT_CONNECT_REQUEST) return accept(event.take_request());
    event.ack();
    if (type == RDMA_CM_EVENT_DISCONNECTED) {
      close(object);
    } else if (type == RDMA_CM_EVENT_DEVICE_REMOVAL) {
      if (object.kind == Kind::kConnection || bug_ == Bug::kTakesThePortForAConnection) {
        close(object);
      } else {
        serving_ = false;
      }
    }
  }

  void accept(std::unique_ptr<cm::Id> id) {
    Object& connection = connections_.emplace_back();
    connection.id = std::move(id);
    connection.id->raw()->context = &connection;
    const rdma_conn_param param = semantics::parameters();
    (void)connection.id->accept(&param).has_value();
  }

  void close(Object& connection) {
    if (connection.kind != Kind::kConnection) {  // what follows would read and write elsewhere
      crashed_ = true;
      serving_ = false;
      return;
    }
    (void)connection.id->disconnect().has_value();
    connection.id.reset();
  }

  Program program_;
  Bug bug_;
  std::unique_ptr<verbs::Semaphore> watched_ = program_.host().runtime().make_semaphore().value();
  Object port_;
  std::list<Object> connections_;
  bool serving_ = true;
  bool crashed_ = false;
};

[[nodiscard]] bool is_next(Program& program, rdma_cm_event_type type) {
  const std::optional<cm::Event> event = program.next();
  return event && event->type() == type;
}

class Removal : public Exhibit {
 protected:
  /// A client that connects, stays for a second and leaves, unless something keeps it from that.
  static void visit(sim::Host& host, const sim::Address& server) {
    Program program(host);
    const auto id = program.make_id();
    const sockaddr_storage address = server.to_sockaddr();
    const auto* to = reinterpret_cast<const sockaddr*>(&address);
    if (!id->resolve_addr(nullptr, to, kPatience)) return;
    if (!is_next(program, RDMA_CM_EVENT_ADDR_RESOLVED)) return;
    if (!id->resolve_route(kPatience)) return;
    if (!is_next(program, RDMA_CM_EVENT_ROUTE_RESOLVED)) return;
    const rdma_conn_param param = semantics::parameters();
    if (!id->connect(&param)) return;
    if (!is_next(program, RDMA_CM_EVENT_CONNECT_RESPONSE)) return;
    if (id->establish() && host.sleep(1s) && id->disconnect()) (void)program.next().has_value();
  }

  static std::vector<sim::FaultAction> removals() {
    return {sim::RemoveDevice{"server", "anyrdma0"}, sim::RemoveDevice{"client", "anyrdma0"}};
  }
  static sim::Scenario target_with(Bug bug) {
    return [bug](const sim::Trial& trial) {
      sim::World world(trial.seed);
      sim::Host& server = world.add_host("server", {kServerIp});
      sim::Host& client = world.add_host("client", {kClientIp});
      EXPECT_TRUE(world.faults().inject(trial.plan));
      Target target(server, bug);
      server.spawn(
          "target", [&] { target.run(); }, sim::Ending::kMayServe);
      client.spawn("visit", [&] { visit(client, server.address(kPort)); });
      sim::Outcome outcome = sim::finish(world);
      if (target.crashed()) outcome.problem = "the target crashed\n";
      world.scheduler().fibers().close();
      return outcome;
    };
  }
};

// Exhibit 36: A target crashed on DEVICE_REMOVAL. The listener's id gets that event first. Its
// context is a port, and the handler used it as a connection.
// https://github.com/spdk/spdk/issues/1184
// https://github.com/spdk/spdk/issues/3139
TEST_F(Removal, TheListenersRemovalIsTakenForAConnections) {
  const sim::Exploration found =
      sim::explore_steps(target_with(Bug::kTakesThePortForAConnection), {.actions = removals()});

  ASSERT_TRUE(found.failure);
  EXPECT_EQ(found.failure->outcome.problem, "the target crashed\n");
}

// Exhibit 36: A corrected target survives the removal of its device at every step of a run.
// https://github.com/spdk/spdk/issues/1184
TEST_F(Removal, AtEveryStepTheMendedTargetSurvives) {
  const sim::Exploration found =
      sim::explore_steps(target_with(Bug::kNone), {.actions = removals(), .faults_max = 2});

  EXPECT_FALSE(found.failure) << found.failure->to_string();
  EXPECT_GT(found.runs, 50u);
}

// Exhibit 36: After a restart of the network a thread hung in ibv_get_async_event. It waited for
// another event after DEVICE_FATAL, which is the last one.
// https://github.com/spdk/spdk/issues/2786
// https://github.com/spdk/spdk/issues/2356
TEST_F(Removal, NoAsyncEventFollowsDeviceFatal) {
  plan("at 1ms: remove server anyrdma0");
  Target target(server_host, Bug::kReadsOneAsyncEventTooMany);
  server_host.spawn("target", [&] { target.run(); });

  EXPECT_THAT(run_into_hang(), AllOf(HasSubstr("server/target waits for the end of the thread"),
                                     HasSubstr("server/device waits for an asynchronous event")));
}

// --- 37: the example, and the device that came back ---------------------------------------------

/// A client with a thread for events, which tells the main program by a semaphore how it goes on.
class Ping {
 public:
  Ping(sim::Host& host, bool tells_of_removal)
      : program_(host), tells_of_removal_(tells_of_removal) {}

  void run(const sim::Address& server) {
    told_->set_purpose("the thread for events");
    id_ = program_.make_id();
    program_.host().spawn(
        "events", [this] { watch(); }, sim::Ending::kMayServe);
    if (talk(server)) program_.host().note("disconnected");
    id_.reset();
  }

 private:
  [[nodiscard]] bool talk(const sim::Address& server) {
    const sockaddr_storage address = server.to_sockaddr();
    const auto* to = reinterpret_cast<const sockaddr*>(&address);
    const rdma_conn_param param = semantics::parameters();
    return id_->resolve_addr(nullptr, to, kPatience) && is_told(RDMA_CM_EVENT_ADDR_RESOLVED) &&
           id_->resolve_route(kPatience) && is_told(RDMA_CM_EVENT_ROUTE_RESOLVED) &&
           id_->connect(&param) && is_told(RDMA_CM_EVENT_CONNECT_RESPONSE) && id_->establish() &&
           program_.host().sleep(1s) && id_->disconnect() && is_told(RDMA_CM_EVENT_DISCONNECTED);
  }

  [[nodiscard]] bool is_told(rdma_cm_event_type wanted) {
    return told_->wait().has_value() && last_ == wanted;
  }

  void watch() {
    while (const std::optional<cm::Event> event = program_.next()) {
      last_ = event->type();
      const bool removed = last_ == RDMA_CM_EVENT_DEVICE_REMOVAL;
      if (!removed || tells_of_removal_) told_->post();
      if (removed) return;
    }
  }

  Program program_;
  bool tells_of_removal_;
  std::unique_ptr<verbs::Semaphore> told_ = program_.host().runtime().make_semaphore().value();
  rdma_cm_event_type last_{};
  std::unique_ptr<cm::Id> id_;
};

sim::Scenario ping_scenario(bool tells_of_removal) {
  return [tells_of_removal](const sim::Trial& trial) {
    sim::World world(trial.seed);
    sim::Host& server = world.add_host("server", {"192.0.2.1"});
    sim::Host& client = world.add_host("client", {"192.0.2.2"});
    EXPECT_TRUE(world.faults().inject(trial.plan));
    Target target(server, Bug::kNone);
    Ping ping(client, tells_of_removal);
    server.spawn(
        "target", [&] { target.run(); }, sim::Ending::kMayServe);
    client.spawn("ping", [&] { ping.run(server.address(kPort)); });
    sim::Outcome outcome = sim::finish(world);
    world.scheduler().fibers().close();
    return outcome;
  };
}

// Exhibit 37: The event thread of an example program ended at DEVICE_REMOVAL without a message, and
// its main thread waited for a semaphore for ever.
// https://github.com/linux-rdma/rdma-core/pull/28
TEST_F(Removal, TheExampleWaitsForAThreadThatIsGone) {
  const sim::Exploration found = sim::explore_steps(ping_scenario(false), {.actions = removals()});
  const sim::Exploration mended =
      sim::explore_steps(ping_scenario(true), {.actions = removals(), .faults_max = 2});

  ASSERT_TRUE(found.failure);
  EXPECT_THAT(found.failure->trial.plan.to_string(), HasSubstr("remove client anyrdma0"));
  EXPECT_THAT(found.failure->outcome.problem,
              HasSubstr("client/ping waits for the thread for events"));
  EXPECT_FALSE(mended.failure) << mended.failure->to_string();
}

/// An application that keeps one protection domain per device.
class DomainCache {
 public:
  enum class Key { kGuid, kContext };
  explicit DomainCache(Key key) : key_(key) {}
  ~DomainCache() {
    for (const auto& [key, domain] : domains_) (void)ibv_dealloc_pd(domain);
  }

  [[nodiscard]] ibv_pd* of(ibv_context* verbs) {
    const std::uint64_t key = key_ == Key::kGuid ? ibv_get_device_guid(verbs->device)
                                                 : reinterpret_cast<std::uintptr_t>(verbs);
    ibv_pd*& domain = domains_[key];
    if (domain == nullptr) domain = ibv_alloc_pd(verbs);
    return domain;
  }

 private:
  Key key_;
  std::map<std::uint64_t, ibv_pd*> domains_;
};

/// What making a queue pair gives before and after the device was away.
std::vector<int> errors_of(DomainCache::Key key, const char* return_device) {
  sim::World world(1);
  sim::Host& server = world.add_host("server", {"192.0.2.1"});
  sim::Host& client = world.add_host("client", {"192.0.2.2"});
  std::vector<int> errors;
  EXPECT_TRUE(world.faults().inject(
      sim::FaultPlan::parse(std::string("at 1s: remove client anyrdma0\nat 2s: ") + return_device)
          .value()));
  client.spawn("main", [&] {
    DomainCache cache(key);
    for (const auto wait : {0s, 3s}) {
      if (!client.sleep(wait)) return;
      Program program(client);
      const auto id = program.resolve(server.address(kPort));
      ibv_qp_init_attr attr{};
      attr.qp_type = IBV_QPT_RC;
      attr.cap.max_send_wr = attr.cap.max_recv_wr = 1;
      const Result<void> made = id->create_qp(cache.of(id->raw()->verbs), &attr);
      errors.push_back(made ? 0 : made.error().value());
      if (made) id->destroy_qp().value();
    }
  });
  EXPECT_TRUE(world.run());
  return errors;
}

// Exhibit 37: A device that was reset returns as a new device with the same GUID. A program that
// identifies devices by their GUID continued to use objects of the old one, until it was restarted.
// https://github.com/linux-rdma/rdma-core/pull/750
TEST_F(Removal, ADeviceThatCameBackIsNotTheOldOne) {
  constexpr const char* kReset = "return client anyrdma0";
  constexpr const char* kOtherCard = "return client anyrdma0 new-guid";

  EXPECT_THAT(errors_of(DomainCache::Key::kGuid, kReset), ElementsAre(0, EINVAL));
  EXPECT_THAT(errors_of(DomainCache::Key::kGuid, kOtherCard), ElementsAre(0, 0));
  EXPECT_THAT(errors_of(DomainCache::Key::kContext, kReset), ElementsAre(0, 0));
}

// Exhibit 37: A device that was removed and plugged in again was missing in rdma_get_devices. In
// anyrdma each call returns the devices that exist at that time.
// https://github.com/linux-rdma/rdma-core/pull/1314
TEST_F(Removal, TheListOfDevicesFollowsThem) {
  plan("at 1s: remove client anyrdma0\nat 2s: return client anyrdma0");
  std::vector<int> counts;
  ask([&] {
    for (int i = 0; i < 3; ++i) {
      int count = -1;
      rdma_free_devices(rdma_get_devices(&count));
      counts.push_back(count);
      EXPECT_TRUE(client_host.sleep(1500ms - 250ms * i));
    }
  });

  run();

  EXPECT_THAT(counts, ElementsAre(1, 0, 1));
}

// --- 38: an odd device --------------------------------------------------------------------------

// Exhibit 38: On a device whose node GUID is 0, ADDR_RESOLVED came with a null `verbs`, and the
// program crashed in its next line. Newer libraries and anyrdma raise ADDR_ERROR instead.
// https://github.com/linux-rdma/rdma-core/pull/1547
// https://github.com/openucx/ucx/issues/2534
TEST_F(Removal, ADeviceWithoutAGuidResolvesToAnError) {
  verbs::soft::HcaConfig device;
  device.node_guid = {};
  sim::InterfaceOptions interface;
  interface.addresses = {"192.0.2.9"};
  interface.device = device;
  sim::Host& odd = world.add_host("odd", {.interfaces = {interface}});
  semantics::Party party(odd);

  rdma_cm_id* id = party.make();
  EXPECT_EQ(
      semantics::error_of(rdma_resolve_addr(id, nullptr, semantics::Address(kServerIp), 2000)), 0);
  party.take(RDMA_CM_EVENT_ADDR_ERROR, -1);
  EXPECT_EQ(id->verbs, nullptr);
}

// --- 39: ports that come and go -----------------------------------------------------------------

class PortFlap : public Exhibit {
 protected:
  [[nodiscard]] Connection dial() {
    ++connections;
    return connect();
  }
  static void hang_up(Connection& rail) {
    rail.pipe.reset();
    rail.id.reset();
  }
  [[nodiscard]] ibv_wc_status send(Connection& rail) {
    rail.pipe->post(IBV_WR_SEND, 1, 0, 16);
    return rail.pipe->wait_sent().status;
  }
  int connections = 0;
};

// Exhibit 39: A program paused a connection at PORT_ERR and resumed it at PORT_ACTIVE, although its
// queue pairs had gone to ERR meanwhile. Transfers after the port was back were slower than while
// it was down, for ever.
// https://github.com/kvcache-ai/Mooncake/issues/3596
// https://github.com/kvcache-ai/Mooncake/issues/2960
TEST_F(PortFlap, TheRailThatIsResumedIsDead) {
  plan("at 1s: port-down client anyrdma0\nat 60s: port-up client anyrdma0");
  std::vector<ibv_event_type> told;
  serve_everybody();
  ask([&] {
    Connection rail = dial();
    EXPECT_TRUE(client_host.sleep(2s));
    EXPECT_EQ(send(rail), IBV_WC_RETRY_EXC_ERR);
    EXPECT_TRUE(client_host.sleep(60s));
    for (int i = 0; i < 2; ++i) {
      ibv_async_event event{};
      EXPECT_EQ(ibv_get_async_event(rail.id->raw()->verbs, &event), 0);
      told.push_back(event.event_type);
    }

    for (int i = 0; i < 5; ++i) EXPECT_EQ(send(rail), IBV_WC_WR_FLUSH_ERR) << "it was resumed";
    hang_up(rail);
    rail = dial();
    EXPECT_EQ(send(rail), IBV_WC_SUCCESS) << "it was rebuilt";
    hang_up(rail);
  });

  run();

  EXPECT_THAT(told, ElementsAre(IBV_EVENT_PORT_ERR, IBV_EVENT_PORT_ACTIVE));
}

// Exhibit 39: A work request with an error of its own broke the queue pair. The program rebuilt the
// connection and posted the same request again, which broke the next one: a storm of reconnections.
// https://github.com/kvcache-ai/Mooncake/pull/3387
// https://github.com/kvcache-ai/Mooncake/issues/3299
TEST_F(PortFlap, BrokenWorkBreaksEveryNewQueuePair) {
  serve_everybody();
  ask([&] {
    const sim::Instant start = world.now();
    Connection rail = dial();
    while (world.now() - start < 1ms) {
      rail.pipe->post(IBV_WR_RDMA_WRITE, 1, 0, 16, 0xbad, 0xbad);
      if (rail.pipe->wait_sent().status == IBV_WC_SUCCESS) break;
      hang_up(rail);  // the mended one gives the work back: this error is no link's
      rail = dial();
    }
    hang_up(rail);
  });

  run();

  EXPECT_GT(connections, 50);
}

// Exhibit 39: A bond failed over, and applications treated ADDR_CHANGE, or the peer's UNREACHABLE,
// as the end of the connection. Both events are only hints: connections continue on their old path.
// https://github.com/accelio/accelio/issues/88
// https://github.com/apache/brpc/issues/1183
TEST_F(PortFlap, AddressChangeEndsNothing) {
  plan("at 1s: fail-over client eth0\nat 2s: fail-over server eth0");
  serve_everybody();
  ask([&] {
    Connection rail = dial();
    client.expect(RDMA_CM_EVENT_ADDR_CHANGE);
    EXPECT_EQ(client.expect(RDMA_CM_EVENT_UNREACHABLE).status, -ETIMEDOUT);
    EXPECT_EQ(send(rail), IBV_WC_SUCCESS);
    hang_up(rail);
    rail = dial();  // whoever wants the new path
    EXPECT_EQ(send(rail), IBV_WC_SUCCESS);
    hang_up(rail);
  });

  run();
}

}  // namespace
}  // namespace anyrdma::museum
