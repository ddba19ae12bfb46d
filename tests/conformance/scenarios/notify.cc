// Telling the connection manager of the peer's first message.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(notify, establishes_once, .facts = {10}) {
  const Connection pair = stage.request();
  pair.passive.notify();
  pair.passive.accept(kNoParam);
  pair.passive.notify();
  server.take();
  pair.passive.notify();
  client.take();
  server.quiet(500ms);
}

SCENARIO(notify, on_the_active_side) {
  const Connection pair = stage.request();
  pair.active.notify();
  pair.passive.accept(kNoParam);
  client.take();
  pair.active.notify();
}

SCENARIO(notify, of_other_events) {
  const Connection pair = stage.connect();
  pair.passive.notify(IBV_EVENT_PATH_MIG);
  pair.passive.notify(IBV_EVENT_QP_FATAL);
  pair.passive.notify(IBV_EVENT_PORT_ACTIVE);
}

SCENARIO(notify, on_ids_that_are_not_connected) {
  client.create().notify();
  client.routed().notify();
  server.listening().notify();
}

}  // namespace anyrdma::conformance
