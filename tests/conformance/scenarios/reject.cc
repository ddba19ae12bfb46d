// Requests that are refused.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(reject, with_data) {
  const Connection pair = stage.request();
  pair.passive.reject("no, thanks");
  client.take();
  pair.active.note_qp();
}

SCENARIO(reject, twice) {
  const Connection pair = stage.request();
  pair.passive.reject();
  pair.passive.reject();
  pair.passive.accept();
  client.take();
}

SCENARIO(reject, for_lack_of_options) {
  const Connection pair = stage.request();
  pair.passive.reject_ece("unsuitable");
  client.take();
}

SCENARIO(reject, a_rejected_id_cannot_connect_again, .facts = {17, 24, 28}) {
  const Connection pair = stage.request();
  pair.passive.reject();
  client.take();
  pair.active.connect();
  pair.active.resolve_addr(kServer);
  pair.active.disconnect();
  pair.passive.disconnect();
  client.quiet(3s);
  server.quiet(0s);
}

// cma_ib_handler: that timewait is over is told after a disconnection only.
SCENARIO(reject, a_stale_request_hears_nothing_more, .facts = {28, 31}) {
  const Connection pair = stage.connect_without_qp();
  Id& again = client.routed();
  again.connect({{.as = &pair.active}});
  client.take(again);
  client.take(pair.active);
  client.quiet(3s);
  again.resolve_route();
}

SCENARIO(reject, after_the_answer_came_nothing_more_is_heard, .facts = {20, 28}) {
  server.listening();
  Id& active = client.routed();
  active.connect();
  Id& passive = server.take_request();
  passive.accept();
  client.take();
  passive.destroy();
  client.take();
  client.quiet(3s);
}

}  // namespace anyrdma::conformance
