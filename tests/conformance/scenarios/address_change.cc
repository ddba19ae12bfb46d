// Link addresses that change.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(address_change, of_the_own_bond, .needs = {Ability::kFailOver}) {
  const Connection pair = stage.connect();
  stage.fail_over(client);
  client.take(pair.active);
  pair.active.disconnect();
  server.take();
}

SCENARIO(address_change, of_the_peer, .facts = {60}, .needs = {Ability::kFailOver}) {
  const Connection pair = stage.connect();
  stage.fail_over(server);
  server.take(pair.passive);
  client.take(pair.active);
  pair.active.note_qp();
  pair.active.disconnect();
  server.take(pair.passive);
}

}  // namespace anyrdma::conformance
