// Connections, in the order in which a manual would show them.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(connect, with_queue_pairs, .facts = {7, 8}) {
  server.listening();
  Id& active = client.connecting(kServer, {.data = "hello", .resources = 3, .depth = 5});
  Id& passive = server.take_request();
  passive.note_addresses();
  passive.make_qp();
  passive.accept(Param{.data = "welcome", .resources = 1, .depth = 2});
  client.take();
  server.take();
  active.note_depths();
  passive.note_depths();
}

SCENARIO(connect, without_queue_pairs, .facts = {7}) {
  server.listening();
  Id& active = client.routed();
  active.connect({{.data = "hello"}});
  Id& passive = server.take_request();
  passive.accept({{.data = "welcome"}});
  client.take();
  active.establish();
  server.take();
  client.quiet(500ms);
}

SCENARIO(connect, nobody_listens, .facts = {13}) {
  Id& active = client.connecting();
  client.take();
  active.note_qp();
}

SCENARIO(connect, an_established_id_takes_no_second_connection) {
  const Connection pair = stage.connect();
  pair.active.connect();
  pair.passive.accept();
  pair.passive.reject();
  pair.active.notify();
  pair.passive.notify();
  pair.active.notify(IBV_EVENT_PATH_MIG);
}

}  // namespace anyrdma::conformance
