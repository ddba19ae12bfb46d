// Calls whose time has not come, or is over.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {
namespace {

/// Everything that needs a connection, and can be asked without a device.
void try_to_talk_without_device(Id& id) {
  id.reject();
  id.disconnect();
  id.establish();
  id.notify();
}

/// Everything that needs a connection.
void try_to_talk(Id& id) {
  id.accept();
  try_to_talk_without_device(id);
}

}  // namespace

SCENARIO(wrong_state, a_fresh_id) {
  Id& id = client.create();
  id.init_qp_attr(IBV_QPS_INIT);
  try_to_talk_without_device(id);
  id.bind(any_port(kClient));
}

SCENARIO(wrong_state, a_bound_id) {
  Id& id = client.create();
  id.bind(any_port(kClient));
  id.bind(any_port(kClient));
  id.resolve_route();
  id.connect();
  try_to_talk(id);
  id.resolve_addr(kServer);
  client.take();
}

SCENARIO(wrong_state, an_id_bound_to_no_device) {
  Id& id = client.create();
  id.bind(any_port(kAny));
  id.init_qp_attr(IBV_QPS_INIT);
  try_to_talk_without_device(id);
}

SCENARIO(wrong_state, an_id_with_an_address) {
  Id& id = client.create();
  id.resolve_addr(kServer, 2s, any_port(kClient));
  client.take();
  id.bind(any_port(kClient));
  id.resolve_addr(kServer);
  id.listen();
  id.connect();
  try_to_talk(id);
  id.resolve_route();
  client.take();
}

SCENARIO(wrong_state, an_id_with_a_route) {
  Id& id = client.routed();
  id.bind(any_port(kClient));
  id.resolve_addr(kServer);
  id.resolve_route();
  id.listen();
  try_to_talk(id);
  id.connect();
  client.take();
}

SCENARIO(wrong_state, a_listener) {
  Id& id = server.listening();
  id.bind(with_port(kServer, 1));
  id.listen();
  id.resolve_addr(kClient);
  id.resolve_route();
  id.connect();
  try_to_talk(id);
  client.connecting();
  (void)server.take_request();
}

SCENARIO(wrong_state, a_connecting_id) {
  const Connection pair = stage.request();
  pair.active.bind(any_port(kClient));
  pair.active.listen();
  pair.active.resolve_addr(kServer);
  pair.active.resolve_route();
  pair.active.make_qp();
  pair.active.notify();
  pair.passive.accept(kNoParam);
  client.take();
}

SCENARIO(wrong_state, a_request) {
  const Connection pair = stage.request();
  pair.passive.bind(any_port(kServer));
  pair.passive.listen();
  pair.passive.resolve_addr(kClient);
  pair.passive.resolve_route();
  pair.passive.connect();
  pair.passive.establish();
  pair.passive.notify();
  pair.passive.make_qp();
  pair.passive.accept(kNoParam);
  client.take();
}

SCENARIO(wrong_state, a_disconnected_id) {
  const Connection pair = stage.connect();
  pair.active.disconnect();
  server.take();
  pair.passive.disconnect();
  client.take();
  pair.active.bind(any_port(kClient));
  pair.active.listen();
  pair.active.resolve_addr(kServer);
  pair.active.resolve_route();
  pair.active.connect();
  try_to_talk(pair.active);
  try_to_talk(pair.passive);
}

SCENARIO(wrong_state, a_rejected_id) {
  const Connection pair = stage.request();
  pair.passive.reject();
  client.take();
  pair.active.bind(any_port(kClient));
  pair.active.listen();
  pair.active.resolve_route();
  try_to_talk(pair.active);
  try_to_talk(pair.passive);
}

SCENARIO(wrong_state, a_datagram_id) {
  server.listening(kServer, 8, RDMA_PS_UDP);
  Id& active = client.routed(kServer, RDMA_PS_UDP);
  active.make_qp();
  try_to_talk(active);
  active.connect();
  Id& passive = server.take_request();
  passive.make_qp();
  passive.connect();
  passive.notify();
  passive.accept();
  client.take();
  active.accept();
  active.reject();
  active.establish();
  active.notify();
}

}  // namespace anyrdma::conformance
