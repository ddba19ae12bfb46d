// Answers out of their usual order.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(order, a_rejection_after_the_acceptance) {
  server.listening();
  Id& active = client.routed();
  active.connect();
  Id& passive = server.take_request();
  passive.accept();
  passive.reject("changed my mind");
  client.take();
  client.take();
  active.establish();
  passive.accept();
  server.quiet(500ms);
}

SCENARIO(order, a_rejection_overtakes_the_fetching_of_the_acceptance, .facts = {20, 23}) {
  const Connection pair = stage.request();
  pair.passive.accept(kNoParam);
  pair.passive.reject();
  stage.settle();  // both arrive
  client.take();
  client.quiet(500ms);
  pair.active.note_qp();
  server.quiet(0s);
}

SCENARIO(order, a_rejection_after_the_client_is_established) {
  const Connection pair = stage.connect();
  pair.passive.reject();
  pair.active.reject();
  pair.active.disconnect();
  server.take();
}

SCENARIO(order, an_acceptance_after_more_than_all_repetitions, .facts = {16}, .slow = true) {
  const Connection pair = stage.request();
  client.quiet(110s);
  pair.passive.accept(kNoParam);
  client.take();
}

SCENARIO(order, an_acceptance_twice) {
  const Connection pair = stage.request();
  pair.passive.accept(kNoParam);
  pair.passive.accept(kNoParam);
  stage.settle();
  client.take();
  pair.passive.note_qp();
}

SCENARIO(order, an_acceptance_twice_without_queue_pair) {
  server.listening();
  client.routed().connect();
  Id& passive = server.take_request();
  passive.accept();
  passive.accept();
  client.take();
  client.take();
  server.quiet(500ms);
}

SCENARIO(order, a_connect_twice) {
  const Connection pair = stage.request();
  pair.active.connect();
  pair.active.resolve_route();
  pair.passive.accept(kNoParam);
  client.take();
  server.take();
}

SCENARIO(order, the_client_accepts_its_own_request) {
  server.listening();
  Id& active = client.routed();
  active.connect();
  Id& passive = server.take_request();
  active.accept();
  passive.accept();
  client.quiet(1s);
}

SCENARIO(order, the_client_accepts_the_acceptance) {
  server.listening();
  Id& active = client.routed();
  active.connect();
  Id& passive = server.take_request();
  passive.accept();
  client.take();
  active.accept();
  server.take(passive);
}

SCENARIO(order, the_client_rejects_its_own_request) {
  server.listening();
  Id& active = client.routed();
  active.connect();
  Id& passive = server.take_request();
  active.reject();
  active.reject();
  passive.accept();
  client.quiet(1s);
}

SCENARIO(order, establishing_before_the_acceptance) {
  server.listening();
  Id& active = client.routed();
  active.connect();
  Id& passive = server.take_request();
  active.establish();
  active.establish();
  passive.accept();
  client.quiet(1s);
}

SCENARIO(order, the_server_disconnects_a_request, .facts = {24}) {
  const Connection pair = stage.request();
  pair.passive.disconnect();
  pair.passive.note_qp();
  client.quiet(500ms);
  pair.passive.accept(kNoParam);
  pair.passive.reject();
  client.take();
}

SCENARIO(order, the_server_disconnects_a_request_and_accepts_it, .facts = {24}) {
  server.listening();
  Id& active = client.routed();
  active.connect();
  Id& passive = server.take_request();
  passive.disconnect();
  passive.accept();
  client.take();
  active.establish();
  server.take();
}

SCENARIO(order, the_client_disconnects_its_request, .facts = {24}) {
  const Connection pair = stage.request();
  pair.active.disconnect();
  pair.active.note_qp();
  server.quiet(500ms);
  pair.passive.accept(kNoParam);
  client.take();
  server.quiet(500ms);
}

SCENARIO(order, the_client_disconnects_its_request_without_queue_pair, .facts = {24}) {
  server.listening();
  Id& active = client.routed();
  active.connect();
  Id& passive = server.take_request();
  active.disconnect();
  passive.accept();
  client.take();
  active.disconnect();
  server.quiet(500ms);
  active.establish();
  server.take();
}

SCENARIO(order, the_server_disconnects_before_the_client_is_established, .facts = {24}) {
  server.listening();
  Id& active = client.routed();
  active.connect();
  Id& passive = server.take_request();
  passive.accept();
  passive.disconnect();
  client.take();
  client.quiet(500ms);
  active.establish();
  server.take();
}

SCENARIO(order, the_server_disconnects_before_it_fetches_established) {
  const Connection pair = stage.half_connect();
  server.await();
  pair.passive.disconnect();
  client.take();
  pair.active.disconnect();
  server.take();
  server.take();
}

SCENARIO(order, the_client_disconnects_at_once) {
  const Connection pair = stage.half_connect();
  pair.active.disconnect();
  server.take();
  server.take();
  pair.passive.disconnect();
  client.take();
}

SCENARIO(order, disconnecting_twice) {
  const Connection pair = stage.connect();
  pair.active.disconnect();
  pair.active.disconnect();
  server.take();
  pair.passive.disconnect();
  pair.passive.disconnect();
  client.take();
  client.take();
  server.take();
  pair.active.disconnect();
  client.quiet(500ms);
}

SCENARIO(order, disconnecting_again_after_both_did_at_once, .facts = {26}) {
  const Connection pair = stage.connect();
  pair.active.disconnect();
  pair.passive.disconnect();
  client.take();
  server.take();
  pair.active.disconnect();
  pair.passive.disconnect();
  client.take();
  server.take();
}

}  // namespace anyrdma::conformance
