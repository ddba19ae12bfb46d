// Facts 44 to 51 of docs/facts.md: who owns events and ids, and for how long.
#include <gmock/gmock.h>
#include <netdb.h>

#include "tests/semantics/scenario.h"

namespace anyrdma::semantics {
namespace {

class Lifetime : public Scenario {
 protected:
  rdma_cm_id* ask() {
    rdma_cm_id* id = client.routed(kServer);
    rdma_conn_param param = parameters();
    EXPECT_EQ(error_of(rdma_connect(id, &param)), 0);
    return id;
  }
};

TEST_F(Lifetime, Fact44DestroyingAListenerWaitsForTheAcknowledgementOfItsRequests) {
  rdma_cm_id* listener = server.listen(kServer);
  ask();
  rdma_cm_event* request = server.hold();
  rdma_cm_id* child = request->id;
  Instant destroyed{};
  server_host.spawn("destroys", [&] {
    server.destroy(listener);
    destroyed = world.now();
  });

  pass(1s);
  EXPECT_EQ(destroyed, Instant{});
  const Instant acknowledged = world.now();
  EXPECT_EQ(error_of(rdma_ack_cm_event(request)), 0);
  pass(1s);

  EXPECT_EQ(destroyed, acknowledged);
  rdma_conn_param param = parameters();
  EXPECT_EQ(error_of(rdma_accept(child, &param)), 0) << "the child lives on";
}

TEST_F(Lifetime, Fact44DestroyingTheChildDoesNotWait) {
  server.listen(kServer);
  ask();
  rdma_cm_event* request = server.hold();
  rdma_cm_id* child = request->id;

  server.destroy(child);

  EXPECT_EQ(error_of(rdma_ack_cm_event(request)), 0);
  client.take(RDMA_CM_EVENT_REJECTED, kConsumerDefined);
}

TEST_F(Lifetime, Fact45ADestroyedListenersUnfetchedRequestsAreRejectedAndFetchedOnesMayBeAccepted) {
  rdma_cm_id* listener = server.listen(kServer);
  rdma_cm_id* first = ask();
  rdma_cm_id* fetched = server.take_request();
  rdma_cm_id* second = ask();
  pass(1s);

  server.destroy(listener);

  EXPECT_EQ(client.take(RDMA_CM_EVENT_REJECTED, kConsumerDefined).id, second);
  rdma_conn_param param = parameters();
  EXPECT_EQ(error_of(rdma_accept(fetched, &param)), 0);
  EXPECT_EQ(client.take(RDMA_CM_EVENT_CONNECT_RESPONSE, 0).id, first);
}

TEST_F(Lifetime, Fact46EventsOfADestroyedIdVanish) {
  rdma_cm_id* doomed = client.make();
  EXPECT_EQ(error_of(rdma_resolve_addr(doomed, nullptr, Address(kServer), kPatienceMs)), 0);
  rdma_cm_id* other = client.make();
  EXPECT_EQ(error_of(rdma_resolve_addr(other, nullptr, Address(kServer), kPatienceMs)), 0);
  pass(1s);  // both events are queued

  client.destroy(doomed);

  EXPECT_EQ(client.take(RDMA_CM_EVENT_ADDR_RESOLVED, 0).id, other);
  client.expect_silence();
}

TEST_F(Lifetime, Fact47AfterDeviceRemovalEverythingButDestroyIsEnxio) {
  const Connection connection = connect();
  rdma_cm_id* id = connection.active;
  ASSERT_TRUE(client_host.devices().remove("anyrdma0"));
  EXPECT_EQ(client.take(RDMA_CM_EVENT_DEVICE_REMOVAL, 0).id, id);
  rdma_conn_param param = parameters();
  std::uint8_t tos = 0;
  ibv_qp_attr attr{};
  int mask = 0;

  EXPECT_EQ(error_of(rdma_bind_addr(id, Address(kClient))), ENXIO);
  EXPECT_EQ(error_of(rdma_resolve_addr(id, nullptr, Address(kServer), 1)), ENXIO);
  EXPECT_EQ(error_of(rdma_resolve_route(id, 1)), ENXIO);
  EXPECT_EQ(error_of(rdma_listen(id, 1)), ENXIO);
  EXPECT_EQ(error_of(rdma_connect(id, &param)), ENXIO);
  EXPECT_EQ(error_of(rdma_accept(id, &param)), ENXIO);
  EXPECT_EQ(error_of(rdma_reject(id, nullptr, 0)), ENXIO);
  EXPECT_EQ(error_of(rdma_disconnect(id)), ENXIO);
  EXPECT_EQ(error_of(rdma_notify(id, IBV_EVENT_COMM_EST)), ENXIO);
  EXPECT_EQ(error_of(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, 1)), ENXIO);
  EXPECT_EQ(error_of(rdma_init_qp_attr(id, &attr, &mask)), ENXIO);
  EXPECT_EQ(error_of(rdma_migrate_id(id, client.channel())), ENXIO);

  client.expect_silence();
  client.destroy(id);
}

/// Ids without a channel: each call waits for its event.
class SynchronousIds : public Lifetime {
 protected:
  ~SynchronousIds() override {
    // A child holds its CONNECT_REQUEST, which the listener would wait for.
    while (!made_.empty()) {
      EXPECT_EQ(error_of(rdma_destroy_id(made_.back())), 0);
      made_.pop_back();
    }
  }
  rdma_cm_id* make(Party& party) {
    rdma_cm_id* id = nullptr;
    party.as_program(
        [&] { EXPECT_EQ(error_of(rdma_create_id(nullptr, &id, nullptr, RDMA_PS_TCP)), 0); });
    made_.push_back(id);
    return id;
  }
  rdma_cm_id* listen() {
    rdma_cm_id* id = make(server);
    EXPECT_EQ(error_of(rdma_bind_addr(id, Address(kServer))), 0);
    EXPECT_EQ(error_of(rdma_listen(id, 4)), 0);
    return id;
  }
  rdma_cm_id* get_request(rdma_cm_id* listener) {
    rdma_cm_id* id = nullptr;
    EXPECT_EQ(error_of(rdma_get_request(listener, &id)), 0);
    made_.push_back(id);
    return id;
  }

 private:
  std::vector<rdma_cm_id*> made_;
};

TEST_F(SynchronousIds, Fact48ARejectionIsEconnrefused) {
  rdma_cm_id* listener = listen();
  server_host.spawn("rejects",
                    [&] { EXPECT_EQ(error_of(rdma_reject(get_request(listener), "no", 2)), 0); });
  rdma_cm_id* id = make(client);
  EXPECT_EQ(error_of(rdma_resolve_addr(id, nullptr, Address(kServer), kPatienceMs)), 0);
  EXPECT_EQ(error_of(rdma_resolve_route(id, kPatienceMs)), 0);
  rdma_conn_param param = parameters();

  EXPECT_EQ(error_of(rdma_connect(id, &param)), ECONNREFUSED);

  ASSERT_NE(id->event, nullptr);
  EXPECT_EQ(id->event->event, RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(id->event->status, kConsumerDefined);
}

TEST_F(SynchronousIds, Fact48OtherFailuresAreTheirStatus) {
  rdma_cm_id* id = make(client);

  EXPECT_EQ(error_of(rdma_resolve_addr(id, nullptr, Address("192.0.2.77"), 100)), ETIMEDOUT);

  EXPECT_EQ(id->event->event, RDMA_CM_EVENT_ADDR_ERROR);
}

TEST_F(SynchronousIds, Fact48AcceptSucceedsWithWhateverEventComesNext) {
  plan("on client->server RTU all: lose");
  rdma_cm_id* listener = listen();
  rdma_cm_id* asking = ask();
  rdma_cm_id* accepted = get_request(listener);
  client_host.spawn("gives up", [&] {
    client.take(RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
    EXPECT_EQ(error_of(rdma_establish(asking)), 0);
    EXPECT_EQ(error_of(rdma_disconnect(asking)), 0);
  });
  rdma_conn_param param = parameters();

  EXPECT_EQ(error_of(rdma_accept(accepted, &param)), 0);

  ASSERT_NE(accepted->event, nullptr);
  EXPECT_EQ(accepted->event->event, RDMA_CM_EVENT_DISCONNECTED);
}

TEST_F(SynchronousIds, Fact49GetRequestIsForSynchronousListenersOnly) {
  rdma_cm_id* listener = server.listen(kServer);
  rdma_cm_id* id = nullptr;

  EXPECT_EQ(error_of(rdma_get_request(listener, &id)), EINVAL);
}

TEST_F(SynchronousIds, Fact49GetRequestKeepsAnEventThatIsNone) {
  rdma_cm_id* listener = listen();
  server_host.spawn("unplugs", [&] { ASSERT_TRUE(server_host.devices().remove("anyrdma0")); });
  rdma_cm_id* id = nullptr;

  EXPECT_EQ(error_of(rdma_get_request(listener, &id)), EINVAL);

  ASSERT_NE(listener->event, nullptr);
  EXPECT_EQ(listener->event->event, RDMA_CM_EVENT_DEVICE_REMOVAL);
}

TEST_F(Lifetime, Fact51AFailureOfGetaddrinfoIsItsOwnCodeAndLeavesErrnoAlone) {
  rdma_addrinfo hints{};
  hints.ai_flags = RAI_NUMERICHOST;
  rdma_addrinfo* found = nullptr;
  int result = 0;
  int error = 0;

  client.as_program([&] {
    errno = EDOM;
    result = rdma_getaddrinfo("no number", "7471", &hints, &found);
    error = errno;
  });

  EXPECT_EQ(result, EAI_NONAME);
  EXPECT_EQ(error, EDOM);
}

TEST_F(Lifetime, Fact50SettingTheIbPathIsItselfARouteResolved) {
  rdma_cm_id* id = client.make();
  EXPECT_EQ(error_of(rdma_resolve_addr(id, nullptr, Address(kServer), kPatienceMs)), 0);
  client.take(RDMA_CM_EVENT_ADDR_RESOLVED, 0);
  ibv_path_data path{};
  path.flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL;
  path.path.mtu = IBV_MTU_1024;
  path.path.reversible_numpath = IBV_PATH_RECORD_REVERSIBLE | 1;
  path.path.packetlifetime = 16;

  EXPECT_EQ(error_of(rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &path, sizeof path)),
            0);

  EXPECT_EQ(client.take(RDMA_CM_EVENT_ROUTE_RESOLVED, 0).id, id);
  EXPECT_EQ(error_of(rdma_resolve_route(id, kPatienceMs)), EINVAL) << "the route is resolved";
  client.expect_silence();
}

}  // namespace
}  // namespace anyrdma::semantics
