// Synchronous ids: calls that wait for their event.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(sync, a_connection_from_beginning_to_end) {
  Id& listener = server.create_synchronous();
  listener.bind(kServer);
  listener.listen();
  Id& active = client.create_synchronous();
  stage.both(
      [&] {
        Id& passive = listener.get_request();
        passive.make_qp();
        passive.accept();
        passive.disconnect();
      },
      [&] {
        active.resolve_addr(kServer, 2s, any_port(kClient));
        active.resolve_route();
        active.make_qp();
        active.connect();
        active.disconnect();
      });
}

SCENARIO(sync, a_refused_connection, .facts = {48}) {
  Id& active = client.create_synchronous();
  stage.both([] {},
             [&] {
               active.resolve_addr(kServer, 2s, any_port(kClient));
               active.resolve_route();
               active.make_qp();
               active.connect();
             });
}

SCENARIO(sync, a_neighbour_that_does_not_answer, .facts = {48}) {
  Id& active = client.create_synchronous();
  stage.both([] {}, [&] { active.resolve_addr(kNobody, 1500ms); });
}

SCENARIO(sync, accepting_takes_whatever_comes_next, .facts = {48}) {
  Id& listener = server.create_synchronous();
  listener.bind(kServer);
  listener.listen();
  Id& active = client.connecting();
  stage.both(
      [&] {
        Id& passive = listener.get_request();
        passive.make_qp();
        passive.accept();
        passive.disconnect();
        passive.disconnect();
      },
      [&] {
        client.take(active);
        active.disconnect();
        client.take(active);
      });
}

SCENARIO(sync, requests_are_for_synchronous_listeners, .facts = {49}) {
  server.listening().get_request();
}

SCENARIO(sync, a_request_is_rejected) {
  Id& listener = server.create_synchronous();
  listener.bind(kServer);
  listener.listen();
  Id& active = client.connecting();
  stage.both([&] { listener.get_request().reject("no"); }, [&] { client.take(active); });
}

SCENARIO(sync, datagram_services_accept_at_once) {
  Id& listener = server.create_synchronous(RDMA_PS_UDP);
  listener.bind(kServer);
  listener.listen();
  Id& active = client.connecting(kServer, {}, RDMA_PS_UDP);
  stage.both(
      [&] {
        Id& passive = listener.get_request();
        passive.make_qp();
        passive.migrate(0);  // until librdmacm 52, accepting left the request unacknowledged
        passive.accept();
      },
      [&] { client.take(active); });
}

SCENARIO(sync, joining_a_group, .needs = {Ability::kMulticast}) {
  Id& id = client.create_synchronous(RDMA_PS_UDP);
  id.bind(any_port(kClient));
  id.make_qp();
  stage.both([] {}, [&] { id.join(kGroup); });
  id.migrate(0);  // to leave waits for the group's event, which the id has had until now
  id.leave(kGroup);
}

// rdma_get_request: what is no request stays with the listener, to be looked at.
SCENARIO(sync, a_removal_instead_of_a_request, .facts = {47, 49},
         .needs = {Ability::kRemoveDevice}) {
  Id& listener = server.create_synchronous();
  listener.bind(kServer);
  listener.listen();
  stage.remove_device(server);
  stage.both([&] { listener.get_request(); }, [] {});
  listener.disconnect();
}

}  // namespace anyrdma::conformance
