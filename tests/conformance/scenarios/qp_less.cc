// Ids whose queue pairs, if any, are the application's own business.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(qp_less, disconnecting) {
  const Connection pair = stage.connect_without_qp();
  pair.active.disconnect();
  server.take();
  pair.passive.disconnect();
  client.take();
}

SCENARIO(qp_less, parameters_are_needed) {
  server.listening();
  Id& active = client.routed();
  active.connect(kNoParam);
  active.connect();
  Id& passive = server.take_request();
  passive.accept();
  client.take();
}

SCENARIO(qp_less, the_response_is_declined) {
  server.listening();
  Id& active = client.routed();
  active.connect();
  Id& passive = server.take_request();
  passive.accept();
  client.take();
  active.reject("changed my mind");
  server.take(passive);
}

SCENARIO(qp_less, the_response_is_ignored_and_the_id_destroyed) {
  server.listening();
  Id& active = client.routed();
  active.connect();
  Id& passive = server.take_request();
  passive.accept();
  client.take();
  active.destroy();
  server.take(passive);
}

SCENARIO(qp_less, establishing_twice) {
  const Connection pair = stage.connect_without_qp();
  pair.active.establish();
  pair.passive.establish();
}

SCENARIO(qp_less, establishing_is_for_ids_without_queue_pair) {
  const Connection pair = stage.half_connect();
  pair.active.establish();
  server.take();
}

SCENARIO(qp_less, a_number_that_is_still_connected, .facts = {31}) {
  const Connection pair = stage.connect_without_qp();
  Id& again = client.routed();
  again.connect({{.as = &pair.active}});
  client.take(again);
  client.take(pair.active);
  pair.active.disconnect();
  server.take(pair.passive);
}

SCENARIO(qp_less, attributes_for_an_own_queue_pair) {
  server.listening();
  Id& active = client.routed();
  active.init_qp_attr(IBV_QPS_INIT);
  active.connect();
  active.init_qp_attr(IBV_QPS_RTR);
  Id& passive = server.take_request();
  passive.init_qp_attr(IBV_QPS_INIT);
  passive.init_qp_attr(IBV_QPS_RTR);
  passive.accept();
  client.take();
  active.init_qp_attr(IBV_QPS_INIT);
  active.init_qp_attr(IBV_QPS_RTR);
  active.init_qp_attr(IBV_QPS_RTS);
  active.init_qp_attr(IBV_QPS_SQD);
  active.establish();
  server.take();
  passive.init_qp_attr(IBV_QPS_RTS);
  passive.disconnect();
  client.take();
  passive.init_qp_attr(IBV_QPS_RTS);
}

}  // namespace anyrdma::conformance
