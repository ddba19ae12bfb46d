// What destroying leaves behind.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(lifetime, the_client_goes_before_it_is_accepted, .facts = {18}) {
  const Connection pair = stage.request();
  pair.active.destroy();
  stage.settle();
  pair.passive.accept(kNoParam);
  server.quiet(500ms);
}

SCENARIO(lifetime, the_client_goes_before_it_is_given_a_queue_pair, .facts = {18}) {
  server.listening();
  Id& active = client.connecting();
  Id& passive = server.take_request();
  active.destroy();
  stage.settle();
  passive.make_qp();
}

SCENARIO(lifetime, the_client_goes_with_the_reply_unfetched, .facts = {19}) {
  const Connection pair = stage.request();
  pair.passive.accept(kNoParam);
  client.await();
  pair.active.destroy();
  server.take(pair.passive);
}

SCENARIO(lifetime, the_server_destroys_a_request) {
  const Connection pair = stage.request();
  pair.passive.destroy();
  client.take();
}

SCENARIO(lifetime, the_server_goes_at_once_after_accepting, .facts = {20}) {
  const Connection pair = stage.half_connect();
  server.take(pair.passive);
  pair.passive.destroy();
  client.take(pair.active);
}

SCENARIO(lifetime, the_client_destroys_an_established_id, .facts = {30}) {
  const Connection pair = stage.connect();
  pair.active.destroy();
  server.take();
  pair.passive.disconnect();
  server.take({.at_least = 200ms, .at_most = 30s});
}

SCENARIO(lifetime, a_listener_goes_with_requests_unfetched, .facts = {45}) {
  Id& listener = server.listening();
  Id& first = client.connecting();
  Id& passive = server.take_request();
  Id& second = client.connecting();
  server.await();
  listener.destroy();
  client.take(second);
  passive.make_qp();
  passive.accept(kNoParam);
  client.take(first);
  server.take(passive);
}

SCENARIO(lifetime, events_of_a_destroyed_id_vanish, .facts = {46}) {
  const Connection pair = stage.connect();
  pair.active.disconnect();
  server.await();
  pair.passive.destroy();
  server.quiet(500ms);
  client.take();
}

SCENARIO(lifetime, destroying_a_listener_waits_for_acknowledgements, .facts = {44}) {
  Id& listener = server.listening();
  client.connecting();
  Held held = server.hold();
  stage.both([&] { listener.destroy(); },
             [&] {
               stage.settle();
               held.ack();
             });
}

SCENARIO(lifetime, an_id_is_used_once) {
  const Connection pair = stage.connect();
  pair.active.disconnect();
  server.take();
  pair.passive.disconnect();
  client.take();
  client.take();
  pair.active.resolve_addr(kServer);
  pair.active.connect();
  pair.active.bind(kClient);
  pair.active.listen();
  pair.active.disconnect();
}

}  // namespace anyrdma::conformance
