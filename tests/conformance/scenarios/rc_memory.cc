// Reaching into the peer's memory over a reliable connection, when all goes well.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(rc_memory, is_written) {
  const Connection pair = stage.connect({});
  pair.active.memory().fill('a');
  pair.active.post_rdma(IBV_WR_RDMA_WRITE, {&pair.passive}, 4096);
  pair.active.take_send();
  pair.passive.note_memory(4096);
}

SCENARIO(rc_memory, is_written_in_the_middle) {
  const Connection pair = stage.connect({});
  pair.active.memory().fill('a');
  pair.active.post_rdma(IBV_WR_RDMA_WRITE, {&pair.passive, 5}, 3, 100);
  pair.active.take_send();
  pair.passive.note_memory(12);
}

SCENARIO(rc_memory, is_written_and_announced) {
  const Connection pair = stage.connect({});
  pair.passive.post_recv(0);
  pair.active.memory().fill('a');
  pair.active.post_rdma(IBV_WR_RDMA_WRITE_WITH_IMM, {&pair.passive}, 6);
  pair.active.take_send();
  pair.passive.take_recv();
  pair.passive.note_memory(8);
}

SCENARIO(rc_memory, is_read) {
  const Connection pair = stage.connect({});
  pair.passive.memory().fill('p');
  pair.active.post_rdma(IBV_WR_RDMA_READ, {&pair.passive}, 4096);
  pair.active.take_send();
  pair.active.note_memory(4096);
}

SCENARIO(rc_memory, is_read_by_the_server_too) {
  const Connection pair = stage.connect({});
  pair.active.memory().fill('a');
  pair.passive.post_rdma(IBV_WR_RDMA_READ, {&pair.active, 8}, 2);
  pair.passive.take_send();
  pair.passive.note_memory(4);
}

SCENARIO(rc_memory, is_read_after_it_was_written) {
  const Connection pair = stage.connect({});
  pair.active.memory().fill('a');
  pair.active.post_rdma(IBV_WR_RDMA_WRITE, {&pair.passive}, 8);
  pair.active.post_rdma(IBV_WR_RDMA_READ, {&pair.passive}, 16, 64);
  pair.active.take_send();
  pair.active.take_send();
  pair.active.note_memory(16, 64);
}

SCENARIO(rc_memory, is_read_more_often_than_at_once) {
  const Connection pair = stage.connect(
      {.asked = {.resources = 1, .depth = 1}, .granted = {.resources = 1, .depth = 1}});
  pair.passive.memory().fill('p');
  for (const std::size_t offset : {0U, 100U, 200U}) {
    pair.active.post_rdma(IBV_WR_RDMA_READ, {&pair.passive}, 2, offset);
  }
  for (int i = 0; i < 3; ++i) pair.active.take_send();
  pair.active.note_memory(204);
}

SCENARIO(rc_memory, is_written_where_no_reads_are_served) {
  const Connection pair = stage.connect();
  pair.passive.memory().fill('p');
  pair.passive.post_rdma(IBV_WR_RDMA_WRITE, {&pair.active}, 8);
  pair.passive.take_send();
  pair.active.note_memory(16);
}

SCENARIO(rc_memory, needs_no_key_for_nothing) {
  const Connection pair = stage.connect({});
  pair.active.post_rdma(IBV_WR_RDMA_WRITE, {&pair.passive, 0, 1}, 0);
  pair.active.post_rdma(IBV_WR_RDMA_READ, {&pair.passive, 0, 1}, 0);
  pair.active.take_send();
  pair.active.take_send();
  pair.active.note_qp();
}

SCENARIO(rc_memory, is_counted_up, .needs = {Ability::kAtomics}) {
  const Connection pair = stage.connect({});
  pair.passive.memory()[8] = 5;
  pair.active.post_atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, {&pair.passive, 8}, 3);
  pair.active.take_send();
  pair.active.note_memory(8);
  pair.passive.note_memory(8, 8);
}

SCENARIO(rc_memory, is_swapped_if_it_is_what_is_expected, .needs = {Ability::kAtomics}) {
  const Connection pair = stage.connect({});
  pair.passive.memory()[0] = 5;
  pair.active.post_atomic(IBV_WR_ATOMIC_CMP_AND_SWP, {&pair.passive}, 4, 7);
  pair.active.take_send();
  pair.passive.note_memory(8);
  pair.active.post_atomic(IBV_WR_ATOMIC_CMP_AND_SWP, {&pair.passive}, 5, 7, 8);
  pair.active.take_send();
  pair.passive.note_memory(8);
  pair.active.note_memory(16);
}

}  // namespace anyrdma::conformance
