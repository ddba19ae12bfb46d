// Datagrams between queue pairs that a service's answer has brought together.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {
namespace {

/// The client knows the server's queue pair, and not the other way round.
Connection introduce(Party& server, Party& client) {
  server.listening(kServer, 8, RDMA_PS_UDP);
  Id& active = client.connecting(kServer, {}, RDMA_PS_UDP);
  Id& passive = server.take_request();
  passive.make_qp();
  passive.accept();
  client.take();
  return {active, passive};
}

}  // namespace

SCENARIO(ud_messages, follow_a_header_of_40_bytes) {
  const Connection pair = introduce(server, client);
  pair.passive.post_recv();
  pair.active.memory().fill('a');
  pair.active.post_datagram(4);
  pair.active.take_send();
  pair.passive.take_recv();
  pair.passive.note_memory(8, 40);
}

SCENARIO(ud_messages, of_no_length) {
  const Connection pair = introduce(server, client);
  pair.passive.post_recv(40);
  pair.active.post_datagram(0);
  pair.passive.take_recv();
}

SCENARIO(ud_messages, that_nobody_receives_are_lost) {
  const Connection pair = introduce(server, client);
  pair.active.post_datagram(1);
  pair.active.take_send();
  stage.settle();  // it arrives
  pair.passive.post_recv();
  pair.active.post_datagram(2);
  pair.active.take_send();
  pair.passive.take_recv();
}

SCENARIO(ud_messages, to_a_queue_pair_that_is_gone_are_lost) {
  const Connection pair = introduce(server, client);
  pair.passive.destroy_qp();
  pair.active.post_datagram(1);
  pair.active.take_send();
  pair.active.note_qp();
}

SCENARIO(ud_messages, to_a_destroyed_id_are_lost) {
  const Connection pair = introduce(server, client);
  pair.passive.destroy();
  pair.active.post_datagram(1);
  pair.active.take_send();
  client.quiet(500ms);
}

SCENARIO(ud_messages, too_long_for_the_receive) {
  const Connection pair = introduce(server, client);
  pair.passive.post_recv(44);
  pair.active.post_datagram(5);
  pair.active.take_send();
  pair.active.note_qp();
  pair.passive.post_recv();
  pair.active.post_datagram(4);
  pair.passive.take_recv();
  pair.passive.note_qp();
}

SCENARIO(ud_messages, too_long_for_the_network) {
  const Connection pair = introduce(server, client);
  pair.passive.post_recv();
  pair.passive.post_recv();
  pair.active.post_datagram(Id::kMemory);
  pair.active.take_send();
  pair.active.post_datagram(1);
  pair.passive.take_recv();
  pair.active.note_qp();
}

SCENARIO(ud_messages, are_flushed_by_disconnecting, .facts = {24}) {
  const Connection pair = introduce(server, client);
  pair.active.post_recv();
  pair.active.disconnect();
  pair.active.take_recv();
  pair.active.post_datagram(1);
  pair.active.take_send();
}

SCENARIO(ud_messages, reach_a_server_that_has_rejected_another) {
  const Connection pair = introduce(server, client);
  Id& second = client.connecting(kServer, {}, RDMA_PS_UDP);
  server.take_request().reject();
  client.take(second);
  pair.passive.post_recv();
  pair.active.post_datagram(1);
  pair.passive.take_recv();
}

}  // namespace anyrdma::conformance
