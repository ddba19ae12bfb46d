// What the kernel decides by more than an id's state: by its type of queue pair, by whether it has
// a device or is bound; and what it fills in. Functions of the kernel's cma.c and librdmacm's
// cma.c.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {
namespace {

/// An id with an address and a route, by calls of its own.
Id& routed_datagram_id(Party& client) {
  return client.routed(kServer, RDMA_PS_UDP);
}

/// Records the partition that its addresses are in.
void note_partition(Id& id) {
  if (id.get() == nullptr) return id.note("no id");
  id.note("is in partition " + std::to_string(int{ntohs(id.get()->route.addr.addr.ibaddr.pkey)}));
}

}  // namespace

// cm_init_qp_rtr_attr, cm_init_qp_rts_attr: by the queue pair's type.
SCENARIO(verdicts, an_unreliable_connection_by_endpoints) {
  Id& listener = server.create_endpoint(kServer, RDMA_PS_IB, IBV_QPT_UC, true);
  listener.migrate(0);
  listener.listen();
  Id* active = nullptr;
  stage.both([] {},
             [&] { active = &client.create_endpoint(kServer, RDMA_PS_IB, IBV_QPT_UC, false); });
  active->migrate(0);
  active->make_qp({.type = IBV_QPT_UC});
  active->connect();
  Id& passive = server.take_request();
  passive.init_qp_attr(IBV_QPS_RTR);
  passive.init_qp_attr(IBV_QPS_RTS);
  passive.make_qp({.type = IBV_QPT_UC});
  passive.accept();
  client.take();
  passive.note_qp();
  active->note_qp();
}

// ucma_query_path, ucma_process_conn_resp: librdmacm asks when it makes the id.
SCENARIO(verdicts, a_request_has_a_path) {
  server.listening();
  Id& active = client.connecting();
  active.note_path();
  server.take_request().note_path();
}

// cma_modify_qp_err: the queue pair of a connection that is none is flushed all the same.
SCENARIO(verdicts, disconnecting_before_connecting) {
  server.listening();
  Id& active = client.routed();
  active.make_qp();
  active.disconnect();
  active.note_qp();
  active.connect();
  Id& passive = server.take_request();
  passive.make_qp();
  passive.accept();
  client.take();
}

// rdma_create_qp: a listener that is bound to an address has a device.
SCENARIO(verdicts, a_queue_pair_of_a_bound_datagram_listener) {
  Id& listener = server.create(RDMA_PS_UDP);
  listener.bind(kServer);
  listener.listen();
  listener.make_qp();
}

// rdma_disconnect: whether there is a cm_id is all that matters.
SCENARIO(verdicts, disconnecting_a_listener_of_one_device) {
  Id& listener = server.create();
  listener.bind(kServer);
  listener.disconnect();
  listener.listen();
  listener.disconnect();
}

SCENARIO(verdicts, disconnecting_a_listener_of_all_devices) {
  server.listening(kAny).disconnect();
}

SCENARIO(verdicts, disconnecting_a_datagram_listener) {
  Id& listener = server.create(RDMA_PS_UDP);
  listener.bind(kServer);
  listener.listen();
  listener.disconnect();
}

SCENARIO(verdicts, disconnecting_a_datagram_id) {
  routed_datagram_id(client).disconnect();
}

// ucma_migrate_id: events move along, but requests have their ids on the old channel.
SCENARIO(verdicts, migrating_a_listener_with_a_request) {
  Id& listener = server.listening();
  (void)client.connecting();
  server.await();
  listener.migrate(1);
  server.quiet(2s, 1);
  client.quiet(100ms);
}

// rdma_resolve_addr: back to IDLE when the source cannot be bound.
SCENARIO(verdicts, binding_after_a_foreign_source) {
  Id& id = client.create();
  id.resolve_addr(kServer, 2s, any_port(kForeign));
  id.note_addresses();
  id.bind(any_port(kClient));
}

SCENARIO(verdicts, resolving_after_a_foreign_source) {
  Id& id = client.create();
  id.resolve_addr(kServer, 2s, any_port(kForeign));
  id.resolve_addr(kServer, 2s, any_port(kClient));
  client.take();
}

// cma_connect_ib, cma_accept_ib: without a queue pair it is the parameter that counts, as a bit.
SCENARIO(verdicts, shared_receives_are_a_bit) {
  server.listening();
  Id& active = client.routed();
  active.connect(Param{.srq = 4});
  server.take_request().accept(Param{.srq = 4});
  client.take(active);
}

SCENARIO(verdicts, a_route_in_negative_time) {
  Id& id = client.create();
  id.resolve_addr(kServer, 2s, any_port(kClient));
  client.take();
  id.call("resolve_route(-1 ms)",
          [](const auto& cm, auto* raw) { return cm.resolve_route(raw, -1); });
  client.take();
}

SCENARIO(verdicts, rejecting_with_bytes_of_nothing) {
  const Connection pair = stage.request();
  pair.passive.call("reject(10 bytes at null)",
                    [](const auto& cm, auto* raw) { return cm.reject(raw, nullptr, 10); });
  client.take();
}

SCENARIO(verdicts, binding_to_an_address_of_the_zero_network) {
  const Address zero("0.1.2.3", 0);
  client.create().call("bind(0.1.2.3)",
                       [&](const auto& cm, auto* raw) { return cm.bind_addr(raw, zero.get()); });
}

SCENARIO(verdicts, an_acknowledgement_timeout_that_no_field_holds) {
  server.listening();
  Id& active = client.create();
  active.set_option(RDMA_OPTION_ID_ACK_TIMEOUT, 40);
  active.resolve_addr(kServer, 2s, any_port(kClient));
  client.take();
  active.resolve_route();
  client.take();
  active.make_qp();
  active.connect();
  (void)server.take_request();
}

SCENARIO(verdicts, an_option_from_nowhere) {
  client.create().call("set_option(REUSEADDR, 4 bytes at null)", [](const auto& cm, auto* raw) {
    return cm.set_option(raw, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, nullptr, sizeof(int));
  });
}

// ib_cm_notify: another path, not the end of the connection.
SCENARIO(verdicts, notifying_of_a_migrated_path) {
  const Connection pair = stage.connect();
  pair.active.notify(IBV_EVENT_PATH_MIG);
  server.quiet(500ms);
  client.quiet(100ms);
}

SCENARIO(verdicts, resolving_the_broadcast_address) {
  const Address all("255.255.255.255", 7471);
  const Address own = stage.address(any_port(kClient));
  Id& id = client.create();
  id.call("resolve_addr(255.255.255.255)", [&](const auto& cm, auto* raw) {
    return cm.resolve_addr(raw, own.get(), all.get(), 2000);
  });
  client.take();
}

// ib_addr_get_pkey: RoCE keeps no broadcast address, and so no partition in it.
SCENARIO(verdicts, addresses_on_roce_are_in_no_partition) {
  Id& listener = server.create();
  listener.bind(kServer);
  note_partition(listener);
  listener.listen();
  Id& active = client.create();
  note_partition(active);
  active.resolve_addr(kServer, 2s, any_port(kClient));
  client.take();
  note_partition(active);
  active.resolve_route();
  client.take();
  note_partition(active);
  active.connect();
  note_partition(server.take_request());
}

}  // namespace anyrdma::conformance
