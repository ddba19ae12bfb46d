// Ports and addresses to bind to and to listen on.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(ports, a_taken_address, .facts = {32}) {
  server.listening(kServer);
  server.create().bind(kServer);
  server.create().bind(kAny);
  server.create().bind(kLoopback);
  server.create().bind(kServerOther);
  server.create().bind(with_port(kServer, 1));
}

SCENARIO(ports, a_taken_wildcard, .facts = {32}) {
  server.listening(kAny);
  server.create().bind(kAny);
  server.create().bind(kServer);
  server.create().bind(kLoopback);
}

SCENARIO(ports, loopback_listens_everywhere, .facts = {33}) {
  server.listening(kLoopback);
  client.connecting();
  server.take_request();
}

SCENARIO(ports, an_ipv6_wildcard_takes_ipv4_clients, .facts = {34}) {
  server.listening(kAny6);
  server.create().bind(kAny);
  client.connecting();
  server.take_request();
}

SCENARIO(ports, an_ipv6_only_wildcard_leaves_ipv4_alone, .facts = {34}) {
  Id& six = server.create();
  six.set_option(RDMA_OPTION_ID_AFONLY, 1);
  six.bind(kAny6);
  six.listen();
  server.create().bind(kAny);
  client.connecting();
  client.take();
}

SCENARIO(ports, free_at_once_while_connections_live, .facts = {35}) {
  Id& listener = server.listening(kServer);
  Id& active = client.connecting();
  Id& passive = server.take_request();
  passive.make_qp();
  passive.accept(kNoParam);
  client.take();
  server.take();
  listener.destroy();
  server.listening(kServer);
  Id& second = client.connecting();
  server.take_request();
  active.note_addresses();
  second.note_addresses();
}

SCENARIO(ports, two_may_share_one_and_neither_listen, .facts = {40}) {
  Id& one = server.create();
  Id& two = server.create();
  one.set_option(RDMA_OPTION_ID_REUSEADDR, 1);
  two.set_option(RDMA_OPTION_ID_REUSEADDR, 1);
  one.bind(kServer);
  two.bind(kServer);
  one.listen();
  two.destroy();
  one.listen();
}

SCENARIO(ports, sharing_needs_the_consent_of_both, .facts = {40}) {
  Id& one = server.create();
  Id& two = server.create();
  one.bind(kServer);
  two.set_option(RDMA_OPTION_ID_REUSEADDR, 1);
  two.bind(kServer);
  one.set_option(RDMA_OPTION_ID_REUSEADDR, 1);
  two.bind(kServer);
  one.set_option(RDMA_OPTION_ID_REUSEADDR, 0);
}

SCENARIO(ports, listening_ends_the_sharing, .facts = {40}) {
  Id& one = server.create();
  one.set_option(RDMA_OPTION_ID_REUSEADDR, 1);
  one.bind(kServer);
  one.listen();
  one.set_option(RDMA_OPTION_ID_REUSEADDR, 1);
  Id& two = server.create();
  two.set_option(RDMA_OPTION_ID_REUSEADDR, 1);
  two.bind(kServer);
}

SCENARIO(ports, listening_without_binding, .facts = {41}) {
  Id& id = server.create();
  id.listen();
  id.note_addresses();
  id.bind(kServer);
}

SCENARIO(ports, every_space_has_its_own, .facts = {42}) {
  server.create(RDMA_PS_TCP).bind(kServer);
  server.create(RDMA_PS_UDP).bind(kServer);
  server.create(RDMA_PS_IB).bind(kServer);
  server.create(RDMA_PS_TCP).bind(kServer);
}

SCENARIO(ports, an_address_of_somebody_else) {
  Id& id = server.create();
  id.bind(kForeign);
  id.bind(kServer);
}

SCENARIO(ports, binding_twice) {
  Id& id = server.create();
  id.bind(kServer);
  id.bind(with_port(kServer, 1));
  id.listen();
  id.bind(with_port(kServer, 1));
  id.listen();
}

SCENARIO(ports, of_two_that_are_in_the_way_the_newer_one_answers) {
  Id& address = server.create();
  address.set_option(RDMA_OPTION_ID_REUSEADDR, 1);
  address.bind(kServer);
  Id& wildcard = server.create();
  wildcard.set_option(RDMA_OPTION_ID_REUSEADDR, 1);
  wildcard.bind(kAny);
  server.create().bind(kServer);

  address.destroy();
  Id& newer = server.create();
  newer.set_option(RDMA_OPTION_ID_REUSEADDR, 1);
  newer.bind(kServer);
  server.create().bind(kServer);
}

SCENARIO(ports, a_request_to_the_other_address, .facts = {13}) {
  server.listening(kServerOther);
  client.connecting(kServer);
  client.take();
}

SCENARIO(ports, two_listeners_with_an_address_each) {
  Id& one = server.listening(kServer);
  Id& two = server.listening(kServerOther);
  client.connecting(kServerOther);
  server.take(two);
  client.connecting(kServer);
  server.take(one);
}

}  // namespace anyrdma::conformance
