// The id's queue pair: when it is made, and what becomes of it.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(queue_pair, goes_through_its_states, .facts = {9, 27}) {
  server.listening();
  Id& active = client.routed();
  active.note_qp();
  active.make_qp();
  active.note_qp();
  active.connect();
  Id& passive = server.take_request();
  active.note_qp();
  passive.make_qp();
  passive.note_qp();
  passive.accept();
  passive.note_qp();
  client.take();
  active.note_qp();
  server.take();
  active.disconnect();
  active.note_qp();
  server.take();
  passive.note_qp();
  passive.disconnect();
  passive.note_qp();
}

SCENARIO(queue_pair, made_after_the_request, .facts = {7}) {
  server.listening();
  Id& active = client.routed();
  active.connect();
  Id& passive = server.take_request();
  active.make_qp();
  active.note_qp();
  passive.accept();
  client.take();
  active.note_qp();
  server.take();
}

SCENARIO(queue_pair, made_after_the_response, .facts = {7}) {
  server.listening();
  Id& active = client.routed();
  active.connect();
  Id& passive = server.take_request();
  passive.accept();
  client.take();
  active.make_qp();
  active.note_qp();
  active.establish();
  active.destroy_qp();
  active.establish();
  server.take();
}

SCENARIO(queue_pair, made_after_the_acceptance) {
  server.listening();
  Id& active = client.routed();
  active.connect();
  Id& passive = server.take_request();
  passive.accept();
  passive.make_qp();
  passive.note_qp();
  client.take();
  active.establish();
  server.take();
}

SCENARIO(queue_pair, made_again_before_the_request) {
  server.listening();
  Id& active = client.routed();
  active.make_qp();
  active.make_qp();
  active.destroy_qp();
  active.make_qp();
  active.connect();
  Id& passive = server.take_request();
  passive.make_qp();
  passive.accept();
  client.take();
}

SCENARIO(queue_pair, destroyed_during_the_request) {
  const Connection pair = stage.request();
  pair.active.destroy_qp();
  pair.passive.accept();
  client.take();
  pair.active.establish();
  server.take();
}

SCENARIO(queue_pair, destroyed_before_the_acceptance) {
  const Connection pair = stage.request();
  pair.passive.destroy_qp();
  pair.passive.accept();
  client.take();
  server.take();
}

SCENARIO(queue_pair, destroyed_before_disconnecting) {
  const Connection pair = stage.connect();
  pair.active.destroy_qp();
  pair.active.disconnect();
  server.take();
  pair.passive.destroy_qp();
  pair.passive.disconnect();
  client.take();
}

SCENARIO(queue_pair, made_after_a_rejection) {
  const Connection pair = stage.request();
  pair.passive.reject();
  client.take();
  pair.active.destroy_qp();
  pair.active.make_qp();
  pair.passive.destroy_qp();
  pair.passive.make_qp();
}

SCENARIO(queue_pair, of_a_listener_needs_an_address) {
  Id& bound = server.listening(kServer);
  bound.make_qp();
}

SCENARIO(queue_pair, for_datagrams_on_an_id_for_connections) {
  Id& id = client.routed();
  id.make_qp({.type = IBV_QPT_UD});
  id.note_qp();
}

SCENARIO(queue_pair, for_connections_on_an_id_for_datagrams) {
  Id& id = client.routed(kServer, RDMA_PS_UDP);
  id.make_qp({.type = IBV_QPT_RC});
  id.note_qp();
}

SCENARIO(queue_pair, for_datagrams_is_ready_at_once) {
  Id& bound = client.create(RDMA_PS_UDP);
  bound.bind(any_port(kClient));
  bound.make_qp();
  bound.note_qp();
  bound.post_recv();
}

SCENARIO(queue_pair, retries_as_each_side_was_told) {
  const Connection pair = stage.connect({.asked = {.retry = 3, .rnr = 5}, .granted = {.rnr = 2}});
  pair.active.note_retries();
  pair.passive.note_retries();
}

SCENARIO(queue_pair, waits_as_long_as_the_option_says) {
  server.listening();
  Id& active = client.create();
  active.set_option(RDMA_OPTION_ID_ACK_TIMEOUT, 9);
  active.resolve_addr(kServer, 2s, any_port(kClient));
  client.take();
  active.resolve_route();
  client.take();
  active.make_qp();
  active.connect();
  Id& passive = server.take_request();
  passive.make_qp();
  passive.set_option(RDMA_OPTION_ID_ACK_TIMEOUT, 11);
  passive.accept();
  client.take();
  active.note_timeout();
  passive.note_timeout();
}

SCENARIO(queue_pair, waits_for_ever_if_the_option_says_zero) {
  server.listening();
  Id& active = client.routed();
  active.set_option(RDMA_OPTION_ID_ACK_TIMEOUT, 0);
  active.make_qp();
  active.connect();
  Id& passive = server.take_request();
  passive.make_qp();
  passive.accept();
  client.take();
  active.note_timeout();
}

}  // namespace anyrdma::conformance
