// Receives that are shared, and what is said about them when few are left or the queue pair fails.
#include "tests/conformance/endpoint.h"
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {
namespace {

constexpr EndpointOptions kShared{.shared_receives = true};

}  // namespace

SCENARIO(shared_receives, serve_in_their_order) {
  Link link(stage, {}, kShared);
  link.passive.post_recv(64);
  link.passive.post_recv(64, 64);
  link.active.memory().fill('a');
  link.active.post({.length = 4});
  link.active.post({.length = 8});
  link.passive.take_recv();
  link.passive.take_recv();
  link.passive.note_memory(80);
}

SCENARIO(shared_receives, below_their_limit_are_announced_once) {
  Link link(stage, {}, kShared);
  for (int i = 0; i < 4; ++i) link.passive.post_recv();
  link.passive.set_limit(3);
  link.passive.note_limit();
  link.active.post({.length = 8});
  link.passive.take_recv();
  link.passive.no_async();
  link.active.post({.length = 8});
  link.passive.take_recv();
  link.passive.take_async();
  link.passive.note_limit();
  link.active.post({.length = 8});
  link.passive.take_recv();
  link.passive.no_async();
}

SCENARIO(shared_receives, have_no_limit_above_their_number) {
  Link link(stage, {}, kShared);
  link.passive.set_limit(100);
  link.passive.note_limit();
}

SCENARIO(shared_receives, are_waited_for) {
  Link link(stage, {}, kShared);
  link.active.post({.length = 8});
  stage.settle();  // it arrives
  link.passive.post_recv();
  link.active.take_send();
  link.passive.take_recv();
}

SCENARIO(shared_receives, run_out) {
  Link link(stage, {.rnr_retry = 1}, kShared);
  link.active.post({.length = 8});
  link.active.take_send();
}

SCENARIO(shared_receives, are_not_flushed_and_the_last_is_announced) {
  Link link(stage, {}, kShared);
  link.passive.post_recv();
  link.passive.fail();
  link.passive.take_async();
  link.passive.no_recv();
}

SCENARIO(shared_receives, of_a_queue_pair_that_fails_by_itself) {
  Link link(stage, {}, kShared);
  link.passive.post_recv();
  link.active.post({.opcode = IBV_WR_RDMA_WRITE,
                    .length = 8,
                    .peer = &link.passive,
                    .key = link.passive.key().wrong()});
  link.active.take_send();
  link.passive.await_state(IBV_QPS_ERR);
  link.passive.note_qp();
  link.passive.take_async();
  link.passive.take_async();
  link.passive.no_recv();
}

SCENARIO(shared_receives, are_not_posted_to_the_queue_pair) {
  Link link(stage, {}, kShared);
  ibv_recv_wr request{};
  ibv_recv_wr* bad = nullptr;
  if (link.passive.is_made()) {
    link.passive.note_call("post_recv() to the queue pair",
                           ibv_post_recv(link.passive.qp(), &request, &bad));
  }
}

}  // namespace anyrdma::conformance
