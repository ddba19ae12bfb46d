// Pointers to nothing, and addresses of no family.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {
namespace {

constexpr int kResolvingMs = 2000;

}  // namespace

SCENARIO(null, address_to_bind_to) {
  Id& id = client.create();
  id.call("bind(null)", [](const auto& cm, auto* raw) { return cm.bind_addr(raw, nullptr); });
  id.bind(any_port(kClient));
}

SCENARIO(null, address_to_resolve) {
  Id& id = client.create();
  id.call("resolve_addr(null)", [](const auto& cm, auto* raw) {
    return cm.resolve_addr(raw, nullptr, nullptr, kResolvingMs);
  });
  id.bind(any_port(kClient));
}

SCENARIO(null, families) {
  Id& id = client.create();
  sockaddr_storage none{};
  auto* const address = reinterpret_cast<sockaddr*>(&none);
  id.call("bind(no family)", [&](const auto& cm, auto* raw) { return cm.bind_addr(raw, address); });
  id.call("resolve_addr(no family)", [&](const auto& cm, auto* raw) {
    return cm.resolve_addr(raw, nullptr, address, kResolvingMs);
  });
  id.resolve_addr(kServer, 2s, any_port(kClient));
  client.take();
}

// The wildcard is taken before the families are compared.
SCENARIO(null, families_that_differ) {
  Id& id = client.create();
  id.resolve_addr(kServer, 2s, any_port(kAny6));
  id.resolve_addr(kServer, 2s, any_port(kClient));
  id.bind(any_port(kClient));
}

SCENARIO(null, private_data_of_some_length_when_connecting) {
  server.listening();
  Id& active = client.routed();
  active.make_qp();
  rdma_conn_param param{};
  param.private_data_len = 5;
  active.call("connect(5 bytes at null)",
              [&](const auto& cm, auto* raw) { return cm.connect(raw, &param); });
  client.quiet(500ms);
}

SCENARIO(null, private_data_of_some_length_when_accepting) {
  const Connection pair = stage.request();
  rdma_conn_param param{};
  param.private_data_len = 5;
  pair.passive.call("accept(5 bytes at null)",
                    [&](const auto& cm, auto* raw) { return cm.accept(raw, &param); });
  client.take();
}

SCENARIO(null, private_data_of_no_length) {
  server.listening();
  Id& active = client.routed();
  active.make_qp();
  rdma_conn_param param{};
  param.private_data = &param;
  active.call("connect(0 bytes)",
              [&](const auto& cm, auto* raw) { return cm.connect(raw, &param); });
  (void)server.take_request();
}

}  // namespace anyrdma::conformance
