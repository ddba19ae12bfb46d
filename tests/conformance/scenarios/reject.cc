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

}  // namespace anyrdma::conformance
