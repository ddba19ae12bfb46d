// What becomes of what an id said of enhanced connection establishment.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(ece_answers, vendors_that_differ) {
  server.listening();
  Id& active = client.routed();
  active.set_local_ece(0x1234, 7);
  active.connect();
  Id& passive = server.take_request();
  passive.set_local_ece(0x5678, 1);
  passive.accept();
  client.take();
  active.note_remote_ece();
}

SCENARIO(ece_answers, what_is_said_is_refused) {
  server.listening();
  Id& active = client.routed();
  active.set_local_ece(0x1234, 7);
  active.connect();
  Id& passive = server.take_request();
  passive.note_remote_ece();
  passive.reject_ece("unsuitable");
  client.take();
  active.note_remote_ece();
}

SCENARIO(ece_answers, the_answer_is_refused) {
  server.listening();
  Id& active = client.routed();
  active.set_local_ece(0x1234, 7);
  active.connect();
  Id& passive = server.take_request();
  passive.accept();
  client.take();
  active.reject_ece("not enough");
  server.take(passive);
}

SCENARIO(ece_answers, of_a_datagram_service) {
  server.listening(kServer, 8, RDMA_PS_UDP);
  Id& active = client.routed(kServer, RDMA_PS_UDP);
  active.set_local_ece(0x1234, 7);
  active.connect();
  Id& passive = server.take_request();
  passive.note_remote_ece();
  passive.set_local_ece(0x1234, 3);
  passive.accept();
  client.take();
  active.note_remote_ece();
}

SCENARIO(ece_answers, of_a_fresh_id) {
  Id& id = client.create();
  id.note_remote_ece();
  id.set_local_ece(0, 7);
  id.set_local_ece(0x1234, 7);
  id.note_remote_ece();
}

}  // namespace anyrdma::conformance
