// Addresses and routes: what is found, and how it fails.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(resolution, address_then_route, .facts = {36}) {
  Id& id = client.create();
  id.resolve_addr(kServer, 2s, any_port(kClient));
  client.take();
  id.note_addresses();
  id.resolve_route();
  client.take();
}

SCENARIO(resolution, nobody_answers, .facts = {37, 38}) {
  Id& id = client.create();
  id.resolve_addr(kNobody, 1500ms);
  id.resolve_addr(kServer);  // while the first is under way
  client.take();
  id.resolve_addr(kServer);
  client.take();
  id.resolve_addr(kServer);
}

SCENARIO(resolution, no_route_leads_there, .facts = {38}) {
  Id& id = client.create();
  id.resolve_addr(kNowhere);
  id.resolve_addr(kServer);
  client.take();
}

SCENARIO(resolution, a_bound_id_ignores_the_source, .facts = {37}) {
  Id& id = server.create();
  id.bind(any_port(kServerOther));
  id.resolve_addr(kClient, 2s, any_port(kServer));
  server.take();
  id.note_addresses();
}

SCENARIO(resolution, a_route_needs_time_and_may_be_asked_for_again, .facts = {39}) {
  Id& id = client.create();
  id.resolve_addr(kServer, 2s, any_port(kClient));
  client.take();
  id.resolve_route(0s);
  id.resolve_route(1ms);
  client.take();
  id.resolve_route();
}

SCENARIO(resolution, the_source_is_not_an_address_of_the_host) {
  Id& id = client.create();
  id.resolve_addr(kServer, 2s, any_port(kForeign));
  id.resolve_addr(kServer, 2s, any_port(kClient));
  client.take();
}

// addr_handler: back to the state of an id that is bound, though to no device.
SCENARIO(resolution, what_a_failed_one_leaves, .facts = {37}) {
  Id& id = client.create();
  id.resolve_addr(kNobody, 1500ms);
  client.take();
  id.bind(any_port(kClient));
  id.listen();
  id.disconnect();
}

// getaddrinfo's own code, not -1 with errno.
SCENARIO(resolution, a_text_that_is_no_address, .facts = {51}) {
  rdma_addrinfo hints{};
  hints.ai_flags = RAI_NUMERICHOST;
  rdma_addrinfo* found = nullptr;
  const int code = client.calls().cm.getaddrinfo("nobody", "7471", &hints, &found);
  client.note("getaddrinfo(nobody): " + std::to_string(code));
}

}  // namespace anyrdma::conformance
