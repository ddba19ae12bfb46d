// What is left in the queues when a connection ends.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(rc_flush, of_receives_by_disconnecting, .facts = {27}) {
  const Connection pair = stage.connect();
  pair.active.post_recv();
  pair.active.post_recv();
  pair.passive.post_recv();
  pair.active.disconnect();
  pair.active.note_qp();
  pair.active.take_recv();
  pair.active.take_recv();
  server.take();
  pair.passive.note_qp();
  pair.passive.disconnect();
  pair.passive.take_recv();
}

SCENARIO(rc_flush, of_what_is_posted_after_disconnecting) {
  const Connection pair = stage.connect();
  pair.active.disconnect();
  stage.settle();
  pair.active.post_recv();
  pair.active.post_send(8);
  pair.active.take_recv();
  pair.active.take_send();
}

SCENARIO(rc_flush, of_sends_that_nobody_receives) {
  const Connection pair = stage.connect();
  pair.active.post_send(8);
  pair.active.post_send(8);
  pair.active.disconnect();
  pair.active.take_send();
  pair.active.take_send();
}

SCENARIO(rc_flush, of_receives_of_a_rejected_client) {
  const Connection pair = stage.request();
  pair.active.post_recv();
  pair.passive.reject();
  client.take();
  pair.active.take_recv();
}

SCENARIO(rc_flush, of_receives_of_an_acceptance_that_failed, .facts = {3}) {
  const Connection pair = stage.request();
  pair.passive.post_recv();
  pair.passive.accept({{.data = bytes(197)}});
  pair.passive.take_recv();
  client.take();
}

SCENARIO(rc_flush, of_receives_of_a_request_that_is_disconnected) {
  const Connection pair = stage.request();
  pair.passive.post_recv();
  pair.passive.disconnect();
  pair.passive.take_recv();
}

SCENARIO(rc_flush, not_of_a_rejecting_server) {
  const Connection pair = stage.request();
  pair.passive.reject();
  pair.passive.note_qp();
}

SCENARIO(rc_flush, not_by_the_destruction_of_the_peer, .facts = {27}) {
  const Connection pair = stage.connect();
  pair.active.destroy();
  server.take();
  pair.passive.note_qp();
}

SCENARIO(rc_flush, of_what_is_sent_to_a_peer_that_is_destroyed) {
  const Connection pair = stage.connect({.asked = {.retry = 0}, .granted = {.retry = 0}});
  pair.active.destroy();
  server.take();
  pair.passive.post_recv();
  pair.passive.post_send(8);
  pair.passive.take_send();
  pair.passive.take_recv();
}

SCENARIO(rc_flush, keeps_what_was_received) {
  const Connection pair = stage.connect();
  pair.passive.post_recv();
  pair.passive.post_recv();
  pair.active.post_send(8);
  pair.active.take_send();
  pair.passive.disconnect();
  pair.passive.take_recv();
  pair.passive.take_recv();
}

}  // namespace anyrdma::conformance
