// What a queue pair lets its peer do, whatever the memory would: the other half of rc_errors.
#include "tests/conformance/endpoint.h"
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {
namespace {

constexpr unsigned kNoWrite = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
constexpr unsigned kNoRead = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
constexpr unsigned kNoAtomic = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

/// One request at the peer's memory, and what becomes of everybody.
void attempt(Link& link, ibv_wr_opcode opcode) {
  link.active.post({.opcode = opcode, .length = 8, .peer = &link.passive});
  link.active.take_send();
  link.active.note_qp();
  link.passive.await_state(IBV_QPS_ERR);
  link.passive.note_qp();
}

}  // namespace

SCENARIO(rc_rights, a_queue_pair_that_is_not_written) {
  Link link(stage, {}, {.access = kNoWrite});
  attempt(link, IBV_WR_RDMA_WRITE);
}

SCENARIO(rc_rights, a_queue_pair_that_is_not_written_and_told) {
  Link link(stage, {}, {.access = kNoWrite});
  link.passive.post_recv();
  attempt(link, IBV_WR_RDMA_WRITE_WITH_IMM);
  link.passive.take_recv();
}

SCENARIO(rc_rights, a_queue_pair_that_is_not_read) {
  Link link(stage, {}, {.access = kNoRead});
  attempt(link, IBV_WR_RDMA_READ);
}

SCENARIO(rc_rights, a_queue_pair_that_does_not_count, .needs = {Ability::kAtomics}) {
  Link link(stage, {}, {.access = kNoAtomic});
  attempt(link, IBV_WR_ATOMIC_FETCH_AND_ADD);
}

SCENARIO(rc_rights, a_queue_pair_that_allows_nothing_receives) {
  Link link(stage, {}, {.access = 0});
  link.passive.post_recv();
  link.active.post({.length = 8});
  link.active.take_send();
  link.passive.take_recv();
}

SCENARIO(rc_rights, nothing_is_written_where_nothing_may_be) {
  Link link(stage, {}, {.access = 0, .memory = 0});
  link.active.post({.opcode = IBV_WR_RDMA_WRITE, .length = 0, .peer = &link.passive});
  link.active.take_send();
}

SCENARIO(rc_rights, memory_of_another_domain) {
  Link link(stage);
  Endpoint stranger(server, {});
  link.active.post({.opcode = IBV_WR_RDMA_WRITE, .length = 8, .peer = &stranger});
  link.active.take_send();
  link.passive.await_state(IBV_QPS_ERR);
  link.passive.note_qp();
}

SCENARIO(rc_rights, ones_own_memory_of_another_domain) {
  Link link(stage);
  Endpoint stranger(client, {});
  link.passive.post_recv();
  link.active.post({.length = 8, .from = &stranger});
  link.active.take_send();
  link.active.note_qp();
  link.passive.note_qp();
}

SCENARIO(rc_rights, memory_that_was_deregistered) {
  Link link(stage);
  const Key key = link.passive.key();
  link.passive.deregister();
  link.active.post({.opcode = IBV_WR_RDMA_WRITE, .length = 8, .peer = &link.passive, .key = key});
  link.active.take_send();
}

SCENARIO(rc_rights, reading_into_memory_that_is_not_written) {
  Link link(stage, {.memory = IBV_ACCESS_REMOTE_READ}, {});
  link.active.post({.opcode = IBV_WR_RDMA_READ, .length = 8, .peer = &link.passive});
  link.active.take_send();
  link.active.note_qp();
}

SCENARIO(rc_rights, swapping_into_memory_that_is_too_short, .needs = {Ability::kAtomics}) {
  Link link(stage);
  link.active.post({.opcode = IBV_WR_ATOMIC_CMP_AND_SWP, .length = 4, .peer = &link.passive});
  link.active.take_send();
  link.active.note_qp();
}

SCENARIO(rc_rights, memory_of_no_rights_is_sent) {
  Link link(stage, {.memory = 0}, {});
  link.passive.post_recv();
  link.active.post({.length = 8});
  link.active.take_send();
  link.passive.take_recv();
}

}  // namespace anyrdma::conformance
