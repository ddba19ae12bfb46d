// In what order work ends that can no longer be done.
#include "tests/conformance/endpoint.h"
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(flush_order, of_receives) {
  Link link(stage);
  for (int i = 0; i < 4; ++i) link.active.post_recv();
  link.active.fail();
  for (int i = 0; i < 4; ++i) link.active.take_recv();
  link.active.no_recv();
}

SCENARIO(flush_order, of_sends_behind_the_one_that_fails) {
  Link link(stage);
  link.passive.post_recv();
  link.active.post({.length = 8});
  link.active.post({.opcode = IBV_WR_RDMA_READ, .length = 8, .peer = &link.passive});
  link.active.post({.opcode = IBV_WR_RDMA_WRITE,
                    .length = 8,
                    .peer = &link.passive,
                    .key = link.passive.key().wrong()});
  link.active.post({.length = 8});
  link.active.post({.opcode = IBV_WR_LOCAL_INV, .key = link.active.key().wrong()});
  for (int i = 0; i < 5; ++i) link.active.take_send();
  link.active.no_send();
}

SCENARIO(flush_order, tells_of_unsignalled_requests_too) {
  Link link(stage, {.signal_all = false}, {});
  link.passive.post_recv();
  link.active.post({.length = 8});
  link.active.post({.opcode = IBV_WR_RDMA_WRITE,
                    .length = 8,
                    .peer = &link.passive,
                    .key = link.passive.key().wrong()});
  link.active.post({.length = 8});
  link.active.take_send();
  link.active.take_send();
  link.active.no_send();
}

SCENARIO(flush_order, of_sends_that_wait_for_an_answer) {
  Link link(stage);
  link.active.post({.length = 1});
  link.active.post({.length = 2});
  stage.settle();  // nobody receives
  link.active.fail();
  link.active.take_send();
  link.active.take_send();
  link.active.no_send();
}

SCENARIO(flush_order, of_what_is_posted_in_error) {
  Link link(stage);
  link.active.fail();
  link.active.post({.length = 1});
  link.active.post({.opcode = IBV_WR_RDMA_READ, .length = 8, .peer = &link.passive});
  link.active.take_send();
  link.active.take_send();
}

SCENARIO(flush_order, of_receives_behind_the_one_that_fails) {
  Link link(stage);
  link.passive.post_recv();
  link.passive.post_recv(8, Endpoint::kMemory - 4);
  link.passive.post_recv();
  link.active.post({.length = 8});
  link.active.post({.length = 8});
  for (int i = 0; i < 2; ++i) link.active.take_send();
  for (int i = 0; i < 3; ++i) link.passive.take_recv();
  link.passive.note_qp();
}

}  // namespace anyrdma::conformance
