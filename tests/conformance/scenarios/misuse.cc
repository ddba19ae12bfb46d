// What nobody should do: librdmacm crashes, for want of a device or of parameters.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(misuse, a_route_without_a_device) {
  Id& id = client.create();
  id.resolve_route();
}

SCENARIO(misuse, a_queue_pair_without_a_device) {
  Id& id = client.create();
  id.make_qp();
}

SCENARIO(misuse, a_queue_pair_of_a_listener_on_all_devices) {
  Id& listener = server.listening(kAny);
  listener.make_qp();
}

SCENARIO(misuse, accepting_without_parameters_and_queue_pair) {
  server.listening();
  (void)client.connecting();
  Id& passive = server.take_request();
  passive.accept(kNoParam);
}

SCENARIO(misuse, destroying_a_queue_pair_twice) {
  Id& id = client.routed();
  id.make_qp();
  id.destroy_qp();
  id.destroy_qp();
}

SCENARIO(misuse, connecting_without_a_device) {
  Id& id = client.create();
  id.connect();
}

SCENARIO(misuse, accepting_without_a_device) {
  Id& id = client.create();
  id.bind(any_port(kAny));
  id.accept();
}

SCENARIO(misuse, a_synchronous_route_without_a_device) {
  Id& id = client.create_synchronous();
  stage.both([] {}, [&] { id.resolve_route(); });
}

SCENARIO(misuse, attributes_of_a_queue_pair) {
  Id& id = client.routed();
  id.call("create_qp(null)",
          [](const auto& cm, auto* raw) { return cm.create_qp(raw, nullptr, nullptr); });
}

SCENARIO(misuse, attributes_of_shared_receives) {
  Id& id = client.routed();
  id.call("create_srq(null)",
          [](const auto& cm, auto* raw) { return cm.create_srq(raw, nullptr, nullptr); });
}

}  // namespace anyrdma::conformance
