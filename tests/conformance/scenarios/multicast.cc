// Groups.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(multicast, a_resolved_id_joins, .facts = {57, 58}, .needs = {Ability::kMulticast}) {
  Id& id = client.create(RDMA_PS_UDP);
  id.resolve_addr(kGroup, 2s, any_port(kClient));
  client.take();
  id.make_qp();
  id.join(kGroup);
  client.take();
  id.leave(kGroup);
  id.leave(kGroup);
}

SCENARIO(multicast, a_bound_id_joins, .needs = {Ability::kMulticast}) {
  Id& id = client.create(RDMA_PS_UDP);
  id.bind(any_port(kClient));
  id.make_qp();
  id.join(kGroup);
  client.take();
}

SCENARIO(multicast, without_a_queue_pair, .facts = {58}, .needs = {Ability::kMulticast}) {
  Id& id = client.create(RDMA_PS_UDP);
  id.bind(any_port(kClient));
  id.join(kGroup);
  client.take();
  id.make_qp();
  id.leave(kGroup);
}

SCENARIO(multicast, only_to_send, .needs = {Ability::kMulticast}) {
  Id& id = client.create(RDMA_PS_UDP);
  id.bind(any_port(kClient));
  id.make_qp();
  id.join_to_send(kGroup);
  client.take();
  id.leave(kGroup);
}

SCENARIO(multicast, twice, .needs = {Ability::kMulticast}) {
  Id& id = client.create(RDMA_PS_UDP);
  id.bind(any_port(kClient));
  id.make_qp();
  id.join(kGroup);
  client.take();
  id.join(kGroup);
  client.take();
  id.leave(kGroup);
  id.leave(kGroup);
  id.leave(kGroup);
}

SCENARIO(multicast, too_early_or_too_late, .facts = {56}, .needs = {Ability::kMulticast}) {
  client.create(RDMA_PS_UDP).join(kGroup);
  Id& wildcard = client.create(RDMA_PS_UDP);
  wildcard.bind(any_port(kAny));
  wildcard.join(kGroup);
  client.routed(kServer, RDMA_PS_UDP).join(kGroup);
}

SCENARIO(multicast, a_connected_id, .needs = {Ability::kMulticast}) {
  Id& id = client.create();
  id.bind(any_port(kClient));
  id.join(kGroup);
  id.leave(kGroup);
}

SCENARIO(multicast, an_ipv6_group_on_roce, .facts = {59}, .needs = {Ability::kMulticast}) {
  Id& id = client.create(RDMA_PS_UDP);
  id.bind(any_port(kClient));
  id.join(kGroup6);
  id.join(kGroup);
  client.take();
}

SCENARIO(multicast, left_before_the_event_is_fetched, .needs = {Ability::kMulticast}) {
  Id& id = client.create(RDMA_PS_UDP);
  id.bind(any_port(kClient));
  id.join(kGroup);
  id.leave(kGroup);
  client.quiet(500ms);
}

SCENARIO(multicast, members_hear_each_other, .needs = {Ability::kMulticast}) {
  Id& listener = server.create(RDMA_PS_UDP);
  listener.bind(any_port(kServer));
  listener.make_qp();
  listener.post_recv(64);
  listener.join(kGroup);
  server.take();
  Id& speaker = client.create(RDMA_PS_UDP);
  speaker.bind(any_port(kClient));
  speaker.make_qp();
  speaker.join_to_send(kGroup);
  client.take();
  speaker.post_datagram(8);
  speaker.take_send();
  listener.take_recv();
}

SCENARIO(multicast, a_listener, .facts = {56}, .needs = {Ability::kMulticast}) {
  Id& id = server.create(RDMA_PS_UDP);
  id.bind(kServer);
  id.listen();
  id.join(kGroup);
  id.leave(kGroup);
}

// ucma_leave_multicast: whatever has become of the id.
SCENARIO(multicast, left_with_a_route, .needs = {Ability::kMulticast}) {
  Id& id = client.create(RDMA_PS_UDP);
  id.resolve_addr(kServer, 2s, any_port(kClient));
  client.take();
  id.join(kGroup);
  client.take();
  id.resolve_route();
  client.take();
  id.leave(kGroup);
  id.leave(kGroup);
}

// ucma_process_join: such a member's queue pair is not attached. It is flushed to see what came.
SCENARIO(multicast, who_only_sends_hears_nothing, .facts = {58}, .needs = {Ability::kMulticast}) {
  Id& deaf = server.create(RDMA_PS_UDP);
  deaf.bind(any_port(kServer));
  deaf.make_qp();
  deaf.post_recv(64);
  deaf.join_to_send(kGroup);
  server.take();
  Id& speaker = client.create(RDMA_PS_UDP);
  speaker.bind(any_port(kClient));
  speaker.make_qp();
  speaker.join_to_send(kGroup);
  client.take();
  speaker.post_datagram(8);
  speaker.take_send();
  stage.settle();
  deaf.disconnect();
  deaf.take_recv();
}

}  // namespace anyrdma::conformance
