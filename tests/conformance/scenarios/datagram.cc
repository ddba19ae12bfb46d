// Datagram services.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(datagram, a_service_is_found, .facts = {1, 52}) {
  server.listening(kServer, 8, RDMA_PS_UDP);
  Id& active = client.connecting(kServer, {.data = "who"}, RDMA_PS_UDP);
  Id& passive = server.take_request();
  passive.note_addresses();
  passive.make_qp();
  passive.accept({{.data = "me"}});
  client.take();
  server.quiet(500ms);
  active.note_qp();
  passive.note_qp();
}

SCENARIO(datagram, nobody_offers_it, .facts = {54}) {
  client.connecting(kServer, {}, RDMA_PS_UDP);
  client.take();
}

SCENARIO(datagram, it_is_refused, .facts = {54}) {
  server.listening(kServer, 8, RDMA_PS_UDP);
  Id& active = client.connecting(kServer, {}, RDMA_PS_UDP);
  server.take_request().reject("closed");
  client.take();
  active.connect();
}

SCENARIO(datagram, the_request_is_destroyed) {
  server.listening(kServer, 8, RDMA_PS_UDP);
  client.connecting(kServer, {}, RDMA_PS_UDP);
  server.take_request().destroy();
  client.take();
}

SCENARIO(datagram, one_id_one_peer) {
  server.listening(kServer, 8, RDMA_PS_UDP);
  Id& active = client.connecting(kServer, {}, RDMA_PS_UDP);
  Id& passive = server.take_request();
  passive.make_qp();
  passive.accept();
  client.take();
  active.connect();
  active.resolve_addr(kServer);
  passive.accept();
  passive.reject();
}

SCENARIO(datagram, disconnecting_is_local, .facts = {24}) {
  server.listening(kServer, 8, RDMA_PS_UDP);
  Id& active = client.connecting(kServer, {}, RDMA_PS_UDP);
  Id& passive = server.take_request();
  passive.make_qp();
  passive.accept();
  client.take();
  active.disconnect();
  active.note_qp();
  server.quiet(500ms);
  passive.note_qp();
}

SCENARIO(datagram, without_queue_pairs) {
  server.listening(kServer, 8, RDMA_PS_UDP);
  client.routed(kServer, RDMA_PS_UDP).connect();
  server.take_request().accept();
  client.take();
}

SCENARIO(datagram, a_connection_asks_for_one) {
  server.listening(kServer, 8, RDMA_PS_UDP);
  client.connecting(kServer);
  client.take();
}

SCENARIO(datagram, messages_follow_the_event) {
  server.listening(kServer, 8, RDMA_PS_UDP);
  Id& active = client.connecting(kServer, {}, RDMA_PS_UDP);
  Id& passive = server.take_request();
  passive.make_qp();
  passive.post_recv(64);
  passive.accept();
  client.take();
  active.post_datagram(8);
  active.take_send();
  passive.take_recv();
}

}  // namespace anyrdma::conformance
