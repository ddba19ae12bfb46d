// What the messages carry for the applications, and how much of it.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(private_data, a_request_takes_56_bytes, .facts = {1, 2}) {
  server.listening();
  Id& active = client.routed();
  active.make_qp();
  active.connect({{.data = bytes(57)}});
  active.connect({{.data = bytes(92)}});
  active.connect({{.data = bytes(255)}});
  server.quiet(500ms);
  active.connect({{.data = bytes(56)}});
  (void)server.take_request();
}

SCENARIO(private_data, a_request_without_queue_pair_takes_as_much, .facts = {2}) {
  server.listening();
  Id& active = client.routed();
  active.connect({{.data = bytes(57)}});
  active.connect({{.data = bytes(56)}});
  (void)server.take_request();
}

SCENARIO(private_data, a_request_in_the_ib_space_takes_as_much, .facts = {1, 2}) {
  server.listening(kServer, 8, RDMA_PS_IB);
  Id& active = client.routed(kServer, RDMA_PS_IB);
  active.make_qp();
  active.connect({{.data = bytes(57)}});
  active.connect({{.data = bytes(56)}});
  (void)server.take_request();
}

SCENARIO(private_data, an_acceptance_takes_196_bytes, .facts = {1}) {
  const Connection pair = stage.request();
  pair.passive.accept({{.data = bytes(196)}});
  client.take();
  server.take();
}

SCENARIO(private_data, an_acceptance_with_more_is_a_rejection, .facts = {3}) {
  const Connection pair = stage.request();
  pair.passive.accept({{.data = bytes(197)}});
  pair.passive.note_qp();
  client.take();
  pair.passive.accept({{.data = bytes(196)}});
  pair.passive.reject();
  server.quiet(500ms);
}

SCENARIO(private_data, an_acceptance_with_more_and_without_queue_pair, .facts = {3}) {
  server.listening();
  client.routed().connect();
  Id& passive = server.take_request();
  passive.accept({{.data = bytes(255)}});
  client.take();
  passive.accept();
}

SCENARIO(private_data, a_rejection_takes_148_bytes, .facts = {1}) {
  const Connection pair = stage.request();
  pair.passive.reject(bytes(148));
  client.take();
}

SCENARIO(private_data, a_rejection_with_more_may_be_repeated_with_less, .facts = {4}) {
  const Connection pair = stage.request();
  pair.passive.reject(bytes(149));
  pair.passive.reject_ece(bytes(149));
  client.quiet(500ms);
  pair.passive.reject(bytes(148));
  client.take();
}

SCENARIO(private_data, a_rejection_with_more_may_be_followed_by_an_acceptance, .facts = {4}) {
  const Connection pair = stage.request();
  pair.passive.reject(bytes(149));
  pair.passive.accept(kNoParam);
  client.take();
  server.take();
}

SCENARIO(private_data, zeros_are_not_told_from_padding, .facts = {1}) {
  server.listening();
  client.connecting(kServer, {.data = bytes(3, '\0')});
  Id& passive = server.take_request();
  passive.make_qp();
  passive.accept({{.data = bytes(4, '\0')}});
  client.take();
}

SCENARIO(private_data, a_question_for_a_service_takes_180_bytes, .facts = {1}) {
  server.listening(kServer, 8, RDMA_PS_UDP);
  Id& active = client.routed(kServer, RDMA_PS_UDP);
  active.make_qp();
  active.connect({{.data = bytes(181)}});
  server.quiet(500ms);
  active.connect({{.data = bytes(180)}});
  (void)server.take_request();
}

SCENARIO(private_data, an_answer_about_a_service_takes_136_bytes, .facts = {1}) {
  server.listening(kServer, 8, RDMA_PS_UDP);
  client.connecting(kServer, {}, RDMA_PS_UDP);
  Id& passive = server.take_request();
  passive.make_qp();
  passive.accept({{.data = bytes(136)}});
  client.take();
}

SCENARIO(private_data, an_answer_with_more_is_a_refusal) {
  server.listening(kServer, 8, RDMA_PS_UDP);
  client.connecting(kServer, {}, RDMA_PS_UDP);
  Id& passive = server.take_request();
  passive.make_qp();
  passive.accept({{.data = bytes(137)}});
  client.take();
  passive.accept();
}

SCENARIO(private_data, a_refusal_of_a_service_takes_136_bytes, .facts = {54}) {
  server.listening(kServer, 8, RDMA_PS_UDP);
  client.connecting(kServer, {}, RDMA_PS_UDP);
  Id& passive = server.take_request();
  passive.reject(bytes(137));
  client.quiet(500ms);
  passive.reject(bytes(136));
  client.take();
}

}  // namespace anyrdma::conformance
