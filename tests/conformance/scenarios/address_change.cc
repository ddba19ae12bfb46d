// Link addresses that change.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

using enum NeighbourNews;

/// Long enough for what the host has been told to come to its ids.
constexpr Duration kAWhile = 500ms;

SCENARIO(address_change, of_the_own_bond, .needs = {Ability::kDeviceEach, Ability::kFailOver}) {
  const Connection pair = stage.connect();
  stage.fail_over(client);
  client.take(pair.active);
  pair.active.disconnect();
  server.take();
}

SCENARIO(address_change, of_the_peer, .facts = {60},
         .needs = {Ability::kDeviceEach, Ability::kFailOver}) {
  const Connection pair = stage.connect();
  stage.fail_over(server);
  server.take(pair.passive);
  client.take(pair.active);
  pair.active.note_qp();
  pair.active.disconnect();
  server.take(pair.passive);
}

SCENARIO(address_change, of_the_own_bond_and_back, .needs = {Ability::kFailOver}) {
  Id& early = client.create();
  early.bind(any_port(kClient));
  stage.fail_over(client);
  client.take(early);
  Id& late = client.create();
  late.bind(any_port(kClient));
  stage.fail_back(client);
  client.take(late);
  client.quiet(kAWhile);
}

SCENARIO(address_change, of_the_own_bond_by_all_ids_on_it, .needs = {Ability::kFailOver}) {
  const Id& listener = client.listening(any_port(kClient));
  Id& everywhere = client.create();
  everywhere.bind(any_port(kAny));
  everywhere.listen();
  const Id& routed = client.routed(kServer);
  Id& resolved = client.create();
  resolved.bind(any_port(kClient));
  resolved.resolve_addr(kServer);
  client.take(resolved);
  stage.fail_over(client);
  client.take(listener);
  client.take(routed);
  client.take(resolved);
  client.quiet(kAWhile);
  resolved.resolve_route();
  client.take(resolved);
}

SCENARIO(address_change, of_a_neighbour, .facts = {60}, .needs = {Ability::kMovingNeighbour}) {
  stage.tell_of_neighbour(kBack);
  client.routed(kMoving);
  stage.tell_of_neighbour(kElsewhere);
  client.take();
  stage.tell_of_neighbour(kAgain);
  client.take();
  stage.tell_of_neighbour(kBack);
  client.quiet(kAWhile);
  stage.tell_of_neighbour(kElsewhere);
  client.take();
  stage.tell_of_neighbour(kForgotten);
  client.take();
}

SCENARIO(address_change, of_a_neighbour_that_was_elsewhere_before,
         .needs = {Ability::kMovingNeighbour}) {
  stage.tell_of_neighbour(kBack);
  const Id& early = client.routed(kMoving);
  stage.tell_of_neighbour(kElsewhere);
  client.take(early);
  const Id& late = client.routed(kMoving);
  stage.tell_of_neighbour(kBack);
  client.take(late);
  client.quiet(kAWhile);
}

SCENARIO(address_change, of_a_neighbour_before_the_route, .needs = {Ability::kMovingNeighbour}) {
  stage.tell_of_neighbour(kBack);
  Id& id = client.create();
  id.resolve_addr(kMoving);
  client.take();
  stage.tell_of_neighbour(kElsewhere);
  client.quiet(kAWhile);
  id.resolve_route();
  client.take();
  stage.tell_of_neighbour(kAgain);
  client.take();
}

}  // namespace anyrdma::conformance
