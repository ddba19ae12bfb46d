// What rdma_init_qp_attr answers, by state.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {
namespace {

void ask(Id& id) {
  id.init_qp_attr(IBV_QPS_INIT);
  id.init_qp_attr(IBV_QPS_RTR);
  id.init_qp_attr(IBV_QPS_RTS);
}

}  // namespace

SCENARIO(qp_attr, of_an_id_with_a_route) {
  ask(client.routed());
}

SCENARIO(qp_attr, of_a_bound_id) {
  Id& id = client.create();
  id.bind(any_port(kClient));
  ask(id);
}

SCENARIO(qp_attr, of_states_that_nobody_connects_to) {
  Id& id = client.routed();
  id.init_qp_attr(IBV_QPS_RESET);
  id.init_qp_attr(IBV_QPS_SQD);
  id.init_qp_attr(IBV_QPS_ERR);
}

SCENARIO(qp_attr, of_a_connecting_id_and_its_request) {
  const Connection pair = stage.request();
  ask(pair.active);
  ask(pair.passive);
}

SCENARIO(qp_attr, of_established_ids) {
  const Connection pair = stage.connect();
  ask(pair.active);
  ask(pair.passive);
}

SCENARIO(qp_attr, of_ids_that_serve_reads) {
  server.listening();
  Id& active = client.routed();
  active.connect({{.resources = 2, .depth = 2}});
  Id& passive = server.take_request();
  ask(passive);
  passive.accept({{.resources = 2, .depth = 2}});
  client.take();
  ask(active);
}

SCENARIO(qp_attr, of_disconnected_ids) {
  const Connection pair = stage.connect();
  pair.active.disconnect();
  ask(pair.active);
  server.take();
  ask(pair.passive);
}

SCENARIO(qp_attr, of_a_rejected_id) {
  const Connection pair = stage.request();
  pair.passive.reject();
  client.take();
  ask(pair.active);
  ask(pair.passive);
}

SCENARIO(qp_attr, of_datagram_ids) {
  server.listening(kServer, 8, RDMA_PS_UDP);
  Id& active = client.routed(kServer, RDMA_PS_UDP);
  ask(active);
  active.connect();
  ask(server.take_request());
}

}  // namespace anyrdma::conformance
