// What synchronous calls return when their event is not the good one, or none comes.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {
namespace {

/// Up to a queue pair.
void prepare(Id& active) {
  active.resolve_addr(kServer, 2s, any_port(kClient));
  active.resolve_route();
  active.make_qp();
}

}  // namespace

SCENARIO(sync_errors, no_route_leads_there) {
  Id& active = client.create_synchronous();
  stage.both([] {},
             [&] {
               active.resolve_addr(kNowhere);
               active.resolve_addr(kServer, 2s, any_port(kClient));
             });
}

SCENARIO(sync_errors, calls_whose_time_has_not_come) {
  Id& active = client.create_synchronous();
  stage.both([] {},
             [&] {
               active.disconnect();
               active.listen(8);
               active.resolve_addr(kServer);
             });
}

SCENARIO(sync_errors, too_much_private_data, .facts = {2, 48}) {
  Id& active = client.create_synchronous();
  stage.both([] {},
             [&] {
               prepare(active);
               active.connect({{.data = bytes(57)}});
               active.connect({{.data = bytes(56)}});
             });
}

SCENARIO(sync_errors, the_server_destroys_the_request, .facts = {48}) {
  server.listening();
  Id& active = client.create_synchronous();
  stage.both([&] { server.take_request().destroy(); },
             [&] {
               prepare(active);
               active.connect();
               active.note_qp();
             });
}

SCENARIO(sync_errors, the_client_is_gone_when_it_is_accepted, .facts = {18}) {
  Id& listener = server.create_synchronous();
  listener.bind(kServer);
  listener.listen();
  Id& active = client.connecting();
  stage.settle();  // it arrives
  active.destroy();
  stage.settle();
  stage.both(
      [&] {
        Id& passive = listener.get_request();
        passive.make_qp();
        passive.accept();
      },
      [] {});
}

SCENARIO(sync_errors, nobody_offers_the_service, .facts = {48, 54}) {
  Id& active = client.create_synchronous(RDMA_PS_UDP);
  stage.both([] {},
             [&] {
               prepare(active);
               active.connect();
             });
}

SCENARIO(sync_errors, an_address_that_is_taken) {
  server.listening(kServer);
  Id& listener = server.create_synchronous();
  listener.bind(kServer);
  listener.bind(with_port(kServer, 1));
  listener.listen();
}

SCENARIO(sync_errors, two_requests_one_after_the_other) {
  Id& listener = server.create_synchronous();
  listener.bind(kServer);
  listener.listen();
  Id& first = client.connecting();
  stage.settle();  // it arrives
  Id& second = client.connecting();
  stage.both(
      [&] {
        listener.get_request().reject("first");
        Id& passive = listener.get_request();
        passive.make_qp();
        passive.accept();
      },
      [&] {
        client.take(first);
        client.take(second);
      });
}

SCENARIO(sync_errors, the_peer_disconnects_first) {
  server.listening();
  Id& active = client.create_synchronous();
  stage.both(
      [&] {
        Id& passive = server.take_request();
        passive.make_qp();
        passive.accept();
        server.take(passive);
        passive.disconnect();
        server.take(passive);
      },
      [&] {
        prepare(active);
        active.connect();
        stage.settle();  // the disconnect arrives
        active.disconnect();
        active.note_qp();
      });
}

SCENARIO(sync_errors, a_synchronous_client_of_an_asynchronous_server) {
  server.listening();
  Id& active = client.create_synchronous();
  stage.both(
      [&] {
        Id& passive = server.take_request();
        passive.make_qp();
        passive.accept();
        server.take(passive);
        server.take(passive);
        passive.disconnect();
      },
      [&] {
        prepare(active);
        active.connect();
        active.disconnect();
        active.disconnect();
      });
}

}  // namespace anyrdma::conformance
