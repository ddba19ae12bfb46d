// Ids that move between channels.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(migrate, an_established_id) {
  const Connection pair = stage.connect();
  pair.passive.migrate(1);
  pair.active.disconnect();
  server.take({.channel = 1});
  pair.passive.disconnect();
  client.take();
}

SCENARIO(migrate, events_that_wait_move_along) {
  const Connection pair = stage.connect();
  pair.active.disconnect();
  server.await();
  pair.passive.migrate(1);
  server.quiet(0s);
  server.take({.channel = 1});
}

SCENARIO(migrate, before_it_is_used) {
  Id& id = client.create();
  id.migrate(1);
  id.resolve_addr(kServer, 2s, any_port(kClient));
  client.take({.channel = 1});
}

SCENARIO(migrate, to_where_it_is) {
  const Connection pair = stage.connect();
  pair.passive.migrate(0);
  pair.active.disconnect();
  server.take();
}

SCENARIO(migrate, a_listener) {
  Id& listener = server.listening();
  listener.migrate(1);
  client.connecting();
  Id& passive = server.take_request({.channel = 1});
  passive.make_qp();
  passive.accept(kNoParam);
  client.take();
  server.take({.channel = 1});
}

SCENARIO(migrate, to_become_synchronous) {
  const Connection pair = stage.connect();
  pair.active.make_synchronous();
  pair.active.make_synchronous();
  stage.both(
      [&] {
        server.take(pair.passive);
        pair.passive.disconnect();
      },
      [&] { pair.active.disconnect(); });
}

SCENARIO(migrate, to_become_asynchronous) {
  Id& id = client.create_synchronous();
  stage.both([] {}, [&] { id.resolve_addr(kServer, 2s, any_port(kClient)); });
  id.migrate(0);
  id.resolve_route();
  client.take();
}

}  // namespace anyrdma::conformance
