// Peers that are silent, or slow.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(timeouts, a_neighbour_without_rdma, .facts = {17}, .needs = {Ability::kDeafNeighbour},
         .slow = true) {
  Id& id = client.routed(kDeaf);
  id.connect();
  client.take({.at_least = 60s, .at_most = 140s});
  id.connect();
}

SCENARIO(timeouts, a_datagram_service_of_a_neighbour_without_rdma,
         .needs = {Ability::kDeafNeighbour}, .slow = true) {
  client.routed(kDeaf, RDMA_PS_UDP).connect();
  client.take({.at_least = 50s, .at_most = 140s});
}

SCENARIO(timeouts, a_slow_accept, .slow = true) {
  const Connection pair = stage.request();
  stage.pass(15s);
  pair.passive.accept(kNoParam);
  client.take();
  server.take();
}

SCENARIO(timeouts, the_client_does_not_answer_a_disconnect, .facts = {25}, .slow = true) {
  const Connection pair = stage.connect();
  pair.passive.disconnect();
  client.take();
  server.take({.at_least = 50s, .at_most = 140s});
}

SCENARIO(timeouts, a_client_that_does_not_fetch, .facts = {6}, .slow = true) {
  const Connection pair = stage.request();
  pair.passive.accept(kNoParam);
  server.quiet(12s);
  client.take();
  server.take();
}

SCENARIO(timeouts, nobody_answers_in_the_time_given) {
  Id& id = client.create();
  id.resolve_addr(kNobody, 1500ms);
  client.take({.at_least = 1s, .at_most = 20s});
}

}  // namespace anyrdma::conformance
