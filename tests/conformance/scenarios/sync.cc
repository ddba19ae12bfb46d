// Synchronous ids: calls that wait for their event.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(sync, a_connection_from_beginning_to_end) {
  Id& listener = server.create_synchronous();
  listener.bind(kServer);
  listener.listen();
  Id& active = client.create_synchronous();
  stage.both(
      [&] {
        Id& passive = listener.get_request();
        passive.make_qp();
        passive.accept();
        passive.disconnect();
      },
      [&] {
        active.resolve_addr(kServer);
        active.resolve_route();
        active.make_qp();
        active.connect();
        active.disconnect();
      });
}

}  // namespace anyrdma::conformance
