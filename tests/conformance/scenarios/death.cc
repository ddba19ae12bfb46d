// Processes that end.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(death, of_a_connected_client) {
  const Connection pair = stage.connect();
  client.die();
  server.take();
  pair.passive.note_qp();
}

SCENARIO(death, of_a_connected_server) {
  const Connection pair = stage.connect();
  server.die();
  client.take();
  pair.active.disconnect();
}

SCENARIO(death, of_a_client_that_waits_to_be_accepted) {
  const Connection pair = stage.request();
  client.die();
  stage.settle();
  pair.passive.accept(kNoParam);
  server.quiet(500ms);
}

SCENARIO(death, of_a_client_that_has_been_accepted) {
  const Connection pair = stage.request();
  pair.passive.accept(kNoParam);
  client.await();
  client.die();
  server.take();
}

SCENARIO(death, of_a_server_with_requests) {
  server.listening();
  Id& first = client.connecting();
  server.take_request();
  Id& second = client.connecting();
  server.await();
  server.die();
  client.take(first);
  client.take(second);
  client.connecting();
  client.take();
}

}  // namespace anyrdma::conformance
