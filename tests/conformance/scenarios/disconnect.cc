// How connections end.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(disconnect, by_the_client, .facts = {25, 27, 28}) {
  const Connection pair = stage.connect();
  pair.active.disconnect();
  server.take();
  pair.passive.note_qp();
  pair.passive.disconnect();
  client.take();
  client.take({.at_least = 200ms, .at_most = 30s});
  server.take();
}

SCENARIO(disconnect, by_both_at_once, .facts = {26}) {
  const Connection pair = stage.connect();
  pair.active.disconnect();
  pair.passive.disconnect();
  client.take();
  server.take();
}

SCENARIO(disconnect, the_server_does_not_answer, .facts = {25}, .slow = true) {
  const Connection pair = stage.connect();
  pair.active.disconnect();
  server.take();
  client.take({.at_least = 60s, .at_most = 130s});
}

// cma_ib_handler: what is heard already is not heard again when the answers come.
SCENARIO(disconnect, by_both_at_once_and_again, .facts = {26}) {
  const Connection pair = stage.connect();
  pair.active.disconnect();
  pair.passive.disconnect();
  client.take();
  server.take();
  pair.active.disconnect();
  client.take();
  server.take();
  pair.passive.disconnect();
  client.quiet(500ms);
  server.quiet(0s);
}

}  // namespace anyrdma::conformance
