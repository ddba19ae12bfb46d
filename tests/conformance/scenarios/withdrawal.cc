// Ids that are destroyed in the middle of something.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(withdrawal, by_the_client_before_the_server_looks, .facts = {18}) {
  server.listening();
  Id& active = client.routed();
  active.connect();
  server.await();
  active.destroy();
  stage.settle();
  Id& passive = server.take_request();
  passive.make_qp();
  passive.accept();
  passive.disconnect();
  server.quiet(500ms);
}

SCENARIO(withdrawal, by_the_client_is_not_rejected_either, .facts = {18}) {
  const Connection pair = stage.request();
  pair.active.destroy();
  stage.settle();
  pair.passive.reject("late");
  pair.passive.note_qp();
  pair.passive.destroy();
}

SCENARIO(withdrawal, by_the_client_while_it_resolves) {
  Id& id = client.create();
  id.resolve_addr(kServer, 2s, any_port(kClient));
  id.destroy();
  client.quiet(500ms);
}

SCENARIO(withdrawal, by_the_client_with_a_rejection_unfetched, .facts = {46}) {
  const Connection pair = stage.request();
  pair.passive.reject();
  client.await();
  pair.active.destroy();
  client.quiet(500ms);
}

SCENARIO(withdrawal, by_the_client_of_a_rejected_id) {
  const Connection pair = stage.request();
  pair.passive.reject();
  client.take();
  pair.active.destroy();
  pair.passive.destroy();
  server.quiet(500ms);
}

SCENARIO(withdrawal, by_the_client_at_once_after_established) {
  const Connection pair = stage.half_connect();
  pair.active.destroy();
  server.take();
  server.take();
  pair.passive.disconnect();
}

SCENARIO(withdrawal, by_the_server_with_the_acceptance_unfetched, .facts = {20, 23}) {
  const Connection pair = stage.request();
  pair.passive.accept(kNoParam);
  pair.passive.destroy();
  stage.settle();  // all arrives
  client.take();
  client.quiet(500ms);
}

SCENARIO(withdrawal, by_the_server_while_the_client_hesitates, .facts = {20}) {
  server.listening();
  Id& active = client.routed();
  active.connect();
  Id& passive = server.take_request();
  passive.accept();
  client.take();
  passive.destroy();
  client.take();
  active.establish();
  active.disconnect();
}

SCENARIO(withdrawal, by_the_server_with_established_unfetched) {
  const Connection pair = stage.half_connect();
  server.await();
  pair.passive.destroy();
  server.quiet(500ms);
  client.take();
}

SCENARIO(withdrawal, by_the_server_instead_of_answering_a_disconnect, .facts = {25}) {
  const Connection pair = stage.connect();
  pair.active.disconnect();
  server.take();
  pair.passive.destroy();
  client.take();
  client.take({.at_least = 200ms, .at_most = 30s});
}

SCENARIO(withdrawal, by_the_client_that_does_not_wait_for_the_answer) {
  const Connection pair = stage.connect();
  pair.active.disconnect();
  pair.active.destroy();
  server.take();
  pair.passive.disconnect();
  server.take();
  client.quiet(0s);
}

SCENARIO(withdrawal, by_both, .facts = {30}) {
  const Connection pair = stage.connect();
  pair.active.destroy();
  pair.passive.destroy();
  client.quiet(500ms);
  server.quiet(500ms);
}

SCENARIO(withdrawal, in_timewait_is_silent, .facts = {28}) {
  const Connection pair = stage.connect();
  pair.active.disconnect();
  server.take();
  pair.passive.disconnect();
  client.take();
  pair.active.destroy();
  pair.passive.destroy();
  client.quiet(2s);
  server.quiet(0s);
}

SCENARIO(withdrawal, of_the_listener_leaves_connections_alone) {
  Id& listener = server.listening();
  Id& active = client.connecting();
  Id& passive = server.take_request();
  listener.destroy();
  passive.make_qp();
  passive.accept(kNoParam);
  client.take();
  server.take();
  client.connecting();
  client.take();
  active.disconnect();
  server.take();
}

SCENARIO(withdrawal, of_the_listener_of_a_datagram_service) {
  Id& listener = server.listening(kServer, 8, RDMA_PS_UDP);
  client.connecting(kServer, {}, RDMA_PS_UDP);
  server.await();
  listener.destroy();
  client.take();
}

SCENARIO(withdrawal, by_the_client_of_a_question_for_a_service) {
  server.listening(kServer, 8, RDMA_PS_UDP);
  Id& active = client.connecting(kServer, {}, RDMA_PS_UDP);
  Id& passive = server.take_request();
  active.destroy();
  stage.settle();
  passive.make_qp();
  passive.accept();
  server.quiet(500ms);
}

// cm_send_rej_locked: the id is idle, and its request goes on being repeated; the id's destruction
// waits for the end of that.
SCENARIO(withdrawal, by_a_rejection_of_the_client, .slow = true) {
  const Connection pair = stage.request();
  pair.active.reject("changed my mind");
  pair.passive.destroy();
  client.quiet(500ms);
  (void)server.take_request({.at_least = 1s, .at_most = 40s});
  pair.active.destroy();
}

}  // namespace anyrdma::conformance
