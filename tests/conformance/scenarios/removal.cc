// Devices that go away.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(removal, of_a_connected_clients_device, .facts = {47}, .needs = {Ability::kRemoveDevice}) {
  const Connection pair = stage.connect_without_qp();
  stage.remove_device(client);
  client.take(pair.active);
  pair.active.disconnect();
  pair.active.notify();
  client.quiet(500ms);
}

SCENARIO(removal, of_a_bound_listeners_device, .needs = {Ability::kRemoveDevice}) {
  server.listening(kServer);
  stage.remove_device(server);
  server.take();
}

SCENARIO(removal, of_a_wildcard_listeners_device, .facts = {43},
         .needs = {Ability::kRemoveDevice}) {
  server.listening(kAny);
  stage.remove_device(server);
  server.quiet(500ms);
}

SCENARIO(removal, of_an_unaccepted_requests_device, .needs = {Ability::kRemoveDevice}) {
  server.listening();
  client.routed().connect();
  Id& passive = server.take_request();
  stage.remove_device(server);
  server.take();
  passive.accept();
}

SCENARIO(removal, of_a_resolved_ids_device, .needs = {Ability::kRemoveDevice}) {
  Id& id = client.routed();
  stage.remove_device(client);
  client.take();
  id.connect();
}

// addr_handler: without a device there still are channels, ids and listeners, and nothing to
// resolve an address to.
SCENARIO(removal, of_the_last_device, .needs = {Ability::kRemoveDevice}) {
  stage.remove_device(client);
  client.listening(kAny);
  Id& id = client.create();
  id.resolve_addr(kServer);
  client.take();
}

}  // namespace anyrdma::conformance
