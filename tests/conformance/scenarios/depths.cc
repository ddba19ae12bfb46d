// The numbers that both sides agree upon.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(depths, without_parameters_the_devices_maxima) {
  server.listening();
  Id& active = client.routed();
  active.make_qp();
  active.connect(kNoParam);
  Id& passive = server.take_request();
  passive.make_qp();
  passive.accept(kNoParam);
  client.take();
  active.note_depths();
  passive.note_depths();
}

SCENARIO(depths, of_255_mean_the_devices_maxima_or_the_requests) {
  server.listening();
  Id& active = client.connecting(kServer, {.resources = 255, .depth = 3});
  Id& passive = server.take_request();
  passive.make_qp();
  passive.accept({{.resources = 255, .depth = 255}});
  client.take();
  active.note_depths();
  passive.note_depths();
}

SCENARIO(depths, above_the_devices_are_refused) {
  server.listening();
  Id& active = client.routed();
  active.make_qp();
  active.connect({{.resources = 254}});
  active.connect({{.depth = 254}});
  active.connect({{.resources = 1, .depth = 1}});
  Id& passive = server.take_request();
  passive.make_qp();
  passive.accept({{.resources = 254}});
  passive.accept({{.depth = 254}});
  passive.note_qp();
  passive.accept({{.resources = 1, .depth = 1}});
  client.take();
}

SCENARIO(depths, of_datagram_services_are_not_checked, .facts = {22}) {
  server.listening(kServer, 8, RDMA_PS_UDP);
  Id& active = client.routed(kServer, RDMA_PS_UDP);
  active.make_qp();
  active.connect({{.resources = 254, .depth = 254}});
  (void)server.take_request();
}

SCENARIO(depths, of_the_ib_space_are_not_checked, .facts = {22}) {
  server.listening(kServer, 8, RDMA_PS_IB);
  Id& active = client.routed(kServer, RDMA_PS_IB);
  active.make_qp();
  active.connect({{.resources = 254, .depth = 254}});
  (void)server.take_request();
}

SCENARIO(depths, the_servers_word_is_the_last, .facts = {5}) {
  server.listening();
  Id& active = client.connecting(kServer, {.resources = 1, .depth = 1});
  Id& passive = server.take_request();
  passive.make_qp();
  passive.accept({{.resources = 4, .depth = 8}});
  client.take();
  active.note_depths();
  passive.note_depths();
}

SCENARIO(depths, accepting_without_parameters_echoes_the_request) {
  server.listening();
  Id& active = client.connecting(kServer, {.resources = 1, .depth = 4});
  Id& passive = server.take_request();
  passive.make_qp();
  passive.accept(kNoParam);
  client.take();
  active.note_depths();
  passive.note_depths();
}

SCENARIO(depths, of_zero) {
  const Connection pair = stage.connect();
  pair.active.note_depths();
  pair.passive.note_depths();
}

SCENARIO(depths, without_queue_pairs_nobody_changes_them) {
  server.listening();
  client.routed().connect({{.resources = 9, .depth = 5}});
  server.take_request().accept({{.resources = 7, .depth = 3}});
  client.take();
}

SCENARIO(depths, retries_are_numbers_up_to_seven) {
  server.listening();
  client.connecting(kServer, {.retry = 15, .rnr = 15});
  Id& passive = server.take_request();
  passive.make_qp();
  passive.accept({{.retry = 255, .rnr = 255}});
  client.take();
}

SCENARIO(depths, retries_of_zero) {
  server.listening();
  client.connecting(kServer, {.retry = 0, .rnr = 0});
  Id& passive = server.take_request();
  passive.make_qp();
  passive.accept({{.retry = 0, .rnr = 0}});
  client.take();
}

SCENARIO(depths, retries_of_each_direction) {
  server.listening();
  client.connecting(kServer, {.retry = 3, .rnr = 5});
  Id& passive = server.take_request();
  passive.make_qp();
  passive.accept({{.retry = 1, .rnr = 2}});
  client.take();
}

SCENARIO(depths, flow_control_is_passed_on) {
  server.listening();
  client.connecting(kServer, {.flow = 1});
  Id& passive = server.take_request();
  passive.make_qp();
  passive.accept({{.flow = 1}});
  client.take();
}

SCENARIO(depths, a_shared_receive_queue_is_the_queue_pairs) {
  server.listening();
  client.connecting(kServer, {.srq = 1});
  Id& passive = server.take_request();
  passive.make_srq();
  passive.make_qp();
  passive.accept();
  client.take();
}

SCENARIO(depths, a_shared_receive_queue_is_what_an_id_without_queue_pair_says) {
  server.listening();
  client.routed().connect({{.srq = 1}});
  server.take_request().accept({{.srq = 1}});
  client.take();
}

}  // namespace anyrdma::conformance
