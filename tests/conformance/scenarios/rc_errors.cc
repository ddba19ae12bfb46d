// What breaks a reliable connection, and who is told.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(rc_errors, a_receive_is_too_short) {
  const Connection pair = stage.connect();
  pair.passive.post_recv(4);
  pair.passive.post_recv();
  pair.active.post_send(5);
  pair.active.take_send();
  pair.passive.take_recv();
  pair.passive.take_recv();
  pair.active.note_qp();
  pair.passive.note_qp();
}

SCENARIO(rc_errors, nobody_receives) {
  const Connection pair = stage.connect({.granted = {.rnr = 0}});
  pair.active.post_send(8);
  pair.active.take_send();
  pair.active.note_qp();
  pair.passive.note_qp();
}

SCENARIO(rc_errors, nobody_receives_an_announced_write) {
  const Connection pair = stage.connect({.granted = {.rnr = 0}});
  pair.active.post_rdma(IBV_WR_RDMA_WRITE_WITH_IMM, {&pair.passive}, 8);
  pair.active.take_send();
}

SCENARIO(rc_errors, nobody_receives_for_long_enough) {
  const Connection pair = stage.connect({.granted = {.rnr = 2}});
  pair.active.post_send(8);
  pair.active.take_send({.at_least = 1s, .at_most = 30s});
}

SCENARIO(rc_errors, a_write_with_a_wrong_key) {
  const Connection pair = stage.connect({});
  pair.passive.post_recv();
  pair.active.post_recv();
  pair.active.post_rdma(IBV_WR_RDMA_WRITE, {&pair.passive, 0, 1}, 8);
  pair.active.take_send();
  pair.active.take_recv();
  pair.passive.take_recv();
  pair.active.note_qp();
  pair.passive.note_qp();
}

SCENARIO(rc_errors, a_read_with_a_wrong_key) {
  const Connection pair = stage.connect({});
  pair.active.post_rdma(IBV_WR_RDMA_READ, {&pair.passive, 0, 1}, 8);
  pair.active.take_send();
  pair.active.note_qp();
}

SCENARIO(rc_errors, a_write_beyond_the_end) {
  const Connection pair = stage.connect({});
  pair.active.memory().fill('a');
  pair.active.post_rdma(IBV_WR_RDMA_WRITE, {&pair.passive, 4090}, 8);
  pair.active.take_send();
  pair.passive.note_memory(6, 4090);
}

SCENARIO(rc_errors, a_read_beyond_the_end) {
  const Connection pair = stage.connect({});
  pair.active.post_rdma(IBV_WR_RDMA_READ, {&pair.passive, 1}, 4096);
  pair.active.take_send();
}

SCENARIO(rc_errors, a_write_to_memory_that_is_only_read) {
  const Connection pair = stage.connect({.passive = {.access = IBV_ACCESS_REMOTE_READ}});
  pair.active.post_rdma(IBV_WR_RDMA_READ, {&pair.passive}, 8);
  pair.active.take_send();
  pair.active.post_rdma(IBV_WR_RDMA_WRITE, {&pair.passive}, 8);
  pair.active.take_send();
}

SCENARIO(rc_errors, a_read_of_memory_that_is_only_written) {
  const Connection pair =
      stage.connect({.passive = {.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE}});
  pair.active.post_rdma(IBV_WR_RDMA_WRITE, {&pair.passive}, 8);
  pair.active.take_send();
  pair.active.post_rdma(IBV_WR_RDMA_READ, {&pair.passive}, 8);
  pair.active.take_send();
}

SCENARIO(rc_errors, counting_in_memory_that_is_only_read_and_written,
         .needs = {Ability::kAtomics}) {
  const Connection pair =
      stage.connect({.passive = {.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                           IBV_ACCESS_REMOTE_READ}});
  pair.active.post_atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, {&pair.passive}, 1);
  pair.active.take_send();
}

SCENARIO(rc_errors, counting_across_a_boundary, .needs = {Ability::kAtomics}) {
  const Connection pair = stage.connect({});
  pair.active.post_atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, {&pair.passive, 4}, 1);
  pair.active.take_send();
  pair.active.note_qp();
}

SCENARIO(rc_errors, sending_from_memory_that_is_not_ones_own) {
  const Connection pair = stage.connect();
  pair.passive.post_recv();
  pair.active.post_send(8, 4092);
  pair.active.take_send();
  pair.active.note_qp();
  pair.passive.note_qp();
}

SCENARIO(rc_errors, receiving_into_memory_that_is_not_ones_own) {
  const Connection pair = stage.connect();
  pair.passive.post_recv(64, 4092);
  pair.active.post_send(8);
  pair.active.take_send();
  pair.passive.take_recv();
}

SCENARIO(rc_errors, receiving_into_memory_that_is_not_written) {
  const Connection pair = stage.connect({.passive = {.access = IBV_ACCESS_REMOTE_READ}});
  pair.passive.post_recv(64);
  pair.active.post_send(8);
  pair.active.take_send();
  pair.passive.take_recv();
}

SCENARIO(rc_errors, reading_into_memory_that_is_not_ones_own) {
  const Connection pair = stage.connect({});
  pair.active.post_rdma(IBV_WR_RDMA_READ, {&pair.passive}, 8, 4092);
  pair.active.take_send();
}

SCENARIO(rc_errors, what_follows_is_flushed) {
  const Connection pair = stage.connect({});
  pair.passive.post_recv();
  pair.active.post_rdma(IBV_WR_RDMA_WRITE, {&pair.passive, 0, 1}, 8);
  pair.active.post_send(8);
  pair.active.post_rdma(IBV_WR_RDMA_WRITE, {&pair.passive}, 8);
  for (int i = 0; i < 3; ++i) pair.active.take_send();
  pair.active.post_send(8);
  pair.active.take_send();
}

SCENARIO(rc_errors, what_went_before_is_done) {
  const Connection pair = stage.connect({});
  pair.passive.post_recv();
  pair.active.post_send(8);
  pair.active.post_rdma(IBV_WR_RDMA_WRITE, {&pair.passive, 0, 1}, 8);
  pair.active.take_send();
  pair.active.take_send();
  pair.passive.take_recv();
}

SCENARIO(rc_errors, the_connection_must_be_ended_all_the_same) {
  const Connection pair = stage.connect({});
  pair.active.post_rdma(IBV_WR_RDMA_WRITE, {&pair.passive, 0, 1}, 8);
  pair.active.take_send();
  client.quiet(500ms);
  server.quiet(0s);
  pair.active.disconnect();
  server.take();
  pair.passive.disconnect();
  client.take();
}

SCENARIO(rc_errors, the_peers_queue_pair_is_gone) {
  const Connection pair = stage.connect({.asked = {.retry = 1}});
  pair.passive.destroy_qp();
  pair.active.post_send(8);
  pair.active.take_send();
  pair.active.note_qp();
}

}  // namespace anyrdma::conformance
