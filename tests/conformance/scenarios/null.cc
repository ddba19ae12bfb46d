// Pointers to nothing, and addresses of no family.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(null, addresses) {
  Id& id = client.create();
  id.note("bind(null)", id.get()->bind(nullptr));
  id.note("resolve_addr(null)", id.get()->resolve_addr(nullptr, nullptr, 2s));
  id.bind(any_port(kClient));
}

SCENARIO(null, families) {
  Id& id = client.create();
  const sockaddr_storage none{};
  const auto* const address = reinterpret_cast<const sockaddr*>(&none);
  id.note("bind(no family)", id.get()->bind(address));
  id.note("resolve_addr(no family)", id.get()->resolve_addr(nullptr, address, 2s));
  id.resolve_addr(kServer, 2s, any_port(kClient));
  client.take();
}

SCENARIO(null, families_that_differ, .needs = {Ability::kIPv6}) {
  Id& id = client.create();
  id.resolve_addr(kServer, 2s, any_port(kAny6));
  id.resolve_addr(kServer, 2s, any_port(kClient));
  client.take();
}

SCENARIO(null, private_data_of_some_length) {
  server.listening();
  Id& active = client.routed();
  active.make_qp();
  rdma_conn_param param{};
  param.private_data_len = 5;
  active.note("connect(5 bytes at null)", active.get()->connect(&param));
  Id& passive = server.take_request();
  passive.make_qp();
  passive.note("accept(5 bytes at null)", passive.get()->accept(&param));
  client.take();
}

SCENARIO(null, private_data_of_no_length) {
  server.listening();
  Id& active = client.routed();
  active.make_qp();
  rdma_conn_param param{};
  param.private_data = &param;
  active.note("connect(0 bytes)", active.get()->connect(&param));
  (void)server.take_request();
}

SCENARIO(null, attributes_of_a_queue_pair) {
  Id& id = client.routed();
  id.note("create_qp(null)", id.get()->create_qp(nullptr, nullptr));
  id.note("create_srq(null)", id.get()->create_srq(nullptr, nullptr));
  id.make_qp();
}

}  // namespace anyrdma::conformance
