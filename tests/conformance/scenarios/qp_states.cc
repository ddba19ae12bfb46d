// The life of a queue pair by hand: what each state takes, and what becomes of work in it.
#include "tests/conformance/endpoint.h"
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(qp_states, reset_takes_no_work) {
  Endpoint alone(server, {});
  alone.note_qp();
  alone.post_recv();
  alone.post({.length = 1});
}

SCENARIO(qp_states, each_has_attributes_that_it_needs) {
  Endpoint alone(server, {});
  alone.to_state(IBV_QPS_INIT);
  alone.to_state(IBV_QPS_RTR);
  alone.to_state(IBV_QPS_RTS);
  alone.to_state(IBV_QPS_SQD);
  alone.note_qp();
}

SCENARIO(qp_states, error_is_not_reached_from_reset) {
  Endpoint alone(server, {});
  alone.to_state(IBV_QPS_ERR);
  alone.note_qp();
  alone.to_state(IBV_QPS_RESET);
  alone.note_qp();
}

SCENARIO(qp_states, ready_to_send_again_changes_nothing) {
  Link link(stage);
  link.active.to_state(IBV_QPS_RTS);
  link.active.to_state(IBV_QPS_INIT);
  link.active.note_qp();
}

SCENARIO(qp_states, error_is_left_for_reset_only) {
  Link link(stage);
  link.active.fail();
  link.active.to_state(IBV_QPS_RTS);
  link.active.to_state(IBV_QPS_INIT);
  link.active.to_state(IBV_QPS_RESET);
  link.active.note_qp();
}

SCENARIO(qp_states, reset_forgets_requests) {
  Link link(stage);
  link.active.post_recv();
  link.active.to_state(IBV_QPS_RESET);
  link.active.no_recv();
}

SCENARIO(qp_states, a_drained_queue_keeps_what_is_posted_for_later) {
  Link link(stage);
  link.passive.post_recv();
  link.passive.post_recv();
  link.active.post({.length = 1});
  link.active.take_send();
  link.active.to_state(IBV_QPS_SQD);
  stage.settle();  // it drains
  link.active.post({.length = 2});
  link.active.no_send();
  link.active.to_state(IBV_QPS_RTS);
  link.active.take_send();
  link.passive.take_recv();
  link.passive.take_recv();
}

SCENARIO(qp_states, a_drained_queue_receives) {
  Link link(stage);
  link.passive.post_recv();
  link.passive.to_state(IBV_QPS_SQD);
  link.active.post({.length = 1});
  link.active.take_send();
  link.passive.take_recv();
  link.passive.note_qp();
}

SCENARIO(qp_states, a_peer_in_reset_is_not_heard_of) {
  Link link(stage, {.retry = 1}, {});
  link.passive.to_state(IBV_QPS_RESET);
  link.active.post({.length = 1});
  link.active.take_send();
}

}  // namespace anyrdma::conformance
