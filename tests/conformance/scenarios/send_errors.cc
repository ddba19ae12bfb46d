// Sends that fail locally where nothing is reliable: the queue pair sends no more (SQE), receives
// go on, and the application may have it send again.
#include "tests/conformance/endpoint.h"
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {
namespace {

constexpr EndpointOptions kDatagrams{.type = IBV_QPT_UD};
constexpr EndpointOptions kUnreliable{.type = IBV_QPT_UC};

/// A request whose memory ends too early.
void post_what_fails(Link& link) {
  link.active.post({.length = 8, .offset = Endpoint::kMemory - 4});
}

void flush(Link& link) {
  link.passive.post_recv();
  post_what_fails(link);
  link.active.post({.length = 1});
  link.active.take_send();
  link.active.take_send();
  link.active.note_qp();
  link.active.post({.length = 2});
  link.active.take_send();
}

void receive(Link& link) {
  link.active.post_recv();
  post_what_fails(link);
  link.active.take_send();
  link.passive.post({.length = 3});
  link.passive.take_send();
  link.active.take_recv();
}

void send_again(Link& link) {
  post_what_fails(link);
  link.active.take_send();
  link.active.to_state(IBV_QPS_RTS);
  link.active.note_qp();
  link.passive.post_recv();
  link.active.post({.length = 4});
  link.active.take_send();
  link.passive.take_recv();
}

}  // namespace

SCENARIO(send_errors, flush_the_datagrams_that_follow) {
  Link link(stage, kDatagrams);
  flush(link);
}

SCENARIO(send_errors, let_datagrams_be_received) {
  Link link(stage, kDatagrams);
  receive(link);
}

SCENARIO(send_errors, of_datagrams_are_mended) {
  Link link(stage, kDatagrams);
  send_again(link);
}

SCENARIO(send_errors, flush_what_follows_on_an_unreliable_connection) {
  Link link(stage, kUnreliable);
  flush(link);
}

SCENARIO(send_errors, let_an_unreliable_connection_receive) {
  Link link(stage, kUnreliable);
  receive(link);
}

SCENARIO(send_errors, of_an_unreliable_connection_are_mended) {
  Link link(stage, kUnreliable);
  send_again(link);
}

}  // namespace anyrdma::conformance
