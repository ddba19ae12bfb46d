// Enhanced connection establishment.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(ece, an_id_without_queue_pair_says_what_it_can) {
  server.listening();
  Id& active = client.routed();
  active.set_local_ece(0x1234, 7);
  active.connect();
  Id& passive = server.take_request();
  passive.note_remote_ece();
  passive.set_local_ece(0x1234, 3);
  passive.accept();
  client.take();
  active.note_remote_ece();
}

SCENARIO(ece, nothing_is_said) {
  server.listening();
  Id& active = client.routed();
  active.connect();
  Id& passive = server.take_request();
  passive.note_remote_ece();
  passive.accept();
  client.take();
  active.note_remote_ece();
}

SCENARIO(ece, of_an_id_with_queue_pair_is_its_own) {
  Id& id = client.routed();
  id.set_local_ece(0, 7);
  id.note_remote_ece();
  id.make_qp();
  id.set_local_ece(0x1234, 7);
  id.note_remote_ece();
}

}  // namespace anyrdma::conformance
