// More than one connection at a time.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(several, two_clients_of_one_listener) {
  const Connection one = stage.connect();
  const Connection two = stage.connect();
  one.active.disconnect();
  server.take();
  two.passive.disconnect();
  client.take();
  two.active.disconnect();
  server.take();
  one.passive.disconnect();
  client.take(one.active);
}

SCENARIO(several, requests_are_answered_in_any_order) {
  const Connection one = stage.request();
  const Connection two = stage.request();
  const Connection three = stage.request();
  three.passive.accept(kNoParam);
  client.take();
  server.take();
  two.passive.reject();
  client.take();
  one.passive.accept(kNoParam);
  client.take();
  server.take();
}

SCENARIO(several, events_come_in_the_order_in_which_they_happened) {
  const Connection one = stage.connect();
  const Connection two = stage.connect();
  two.active.disconnect();
  server.await();
  one.active.disconnect();
  stage.settle();
  client.connecting();
  server.take();
  server.take();
  (void)server.take_request();
}

SCENARIO(several, both_sides_connect_to_each_other) {
  server.listening(kServer);
  client.listening(kClient);
  Id& to_server = client.connecting(kServer);
  Id& to_client = server.connecting(kClient);
  Id& of_client = server.take_request();
  Id& of_server = client.take_request();
  of_client.make_qp();
  of_server.make_qp();
  of_client.accept(kNoParam);
  client.take(to_server);
  server.take(of_client);
  of_server.accept(kNoParam);
  server.take(to_client);
  client.take(of_server);
}

SCENARIO(several, a_new_id_may_try_again_after_a_rejection, .facts = {17}) {
  const Connection refused = stage.request();
  refused.passive.reject();
  client.take();
  refused.active.destroy();
  refused.passive.destroy();
  stage.connect();
}

SCENARIO(several, a_new_id_may_follow_a_disconnected_one) {
  const Connection first = stage.connect();
  first.active.disconnect();
  server.take();
  first.passive.disconnect();
  client.take();
  first.active.destroy();
  first.passive.destroy();
  stage.connect();
}

SCENARIO(several, a_client_connects_from_a_port_of_its_own) {
  server.listening();
  Id& active = client.create();
  active.bind(with_port(kClient, 1));
  active.resolve_addr(kServer);
  client.take();
  active.resolve_route();
  client.take();
  active.connect();
  Id& passive = server.take_request();
  passive.note_addresses();
}

SCENARIO(several, services_at_two_addresses) {
  Id& one = server.listening(kServer, 8, RDMA_PS_UDP);
  Id& two = server.listening(kServerOther, 8, RDMA_PS_UDP);
  client.connecting(kServerOther, {}, RDMA_PS_UDP);
  server.take(two);
  client.connecting(kServer, {}, RDMA_PS_UDP);
  server.take(one);
}

SCENARIO(several, a_service_at_the_other_address) {
  server.listening(kServerOther, 8, RDMA_PS_UDP);
  client.connecting(kServer, {}, RDMA_PS_UDP);
  client.take();
}

SCENARIO(several, a_service_is_no_listener_and_a_listener_no_service, .facts = {42}) {
  server.listening(kServer, 8, RDMA_PS_TCP);
  server.listening(with_port(kServer, 1), 8, RDMA_PS_UDP);
  client.connecting(kServer, {}, RDMA_PS_UDP);
  client.take();
  client.connecting(with_port(kServer, 1), {}, RDMA_PS_TCP);
  client.take();
}

SCENARIO(several, a_connection_in_the_ib_space) {
  server.listening(kServer, 8, RDMA_PS_IB);
  Id& active = client.connecting(kServer, {}, RDMA_PS_IB);
  Id& passive = server.take_request();
  passive.make_qp();
  passive.accept(kNoParam);
  client.take();
  server.take();
  active.disconnect();
  server.take();
}

SCENARIO(several, the_ipoib_space_needs_infiniband) {
  Id& bound = server.create(RDMA_PS_IPOIB);
  bound.bind(kServer);
  Id& active = client.create(RDMA_PS_IPOIB);
  active.resolve_addr(kServer, 2s, any_port(kClient));
  Id& unbound = client.create(RDMA_PS_IPOIB);
  unbound.bind(any_port(kAny));
}

}  // namespace anyrdma::conformance
