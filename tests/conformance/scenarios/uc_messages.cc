// Messages over an unreliable connection: whole or not at all, and nobody is told.
#include "tests/conformance/endpoint.h"
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {
namespace {

constexpr EndpointOptions kUnreliable{.type = IBV_QPT_UC};

}  // namespace

SCENARIO(uc_messages, of_every_length) {
  Link link(stage, kUnreliable);
  link.active.memory().fill('a');
  for (const std::uint32_t length : {0U, 1U, 1024U, 1025U, 4096U}) {
    link.passive.post_recv();
    link.active.post({.length = length});
    link.active.take_send();
    link.passive.take_recv();
  }
  link.passive.note_memory(Endpoint::kMemory);
}

SCENARIO(uc_messages, with_an_immediate) {
  Link link(stage, kUnreliable);
  link.passive.post_recv();
  link.active.post({.opcode = IBV_WR_SEND_WITH_IMM, .length = 8});
  link.active.take_send();
  link.passive.take_recv();
}

SCENARIO(uc_messages, write) {
  Link link(stage, kUnreliable);
  link.active.memory().fill('a');
  link.active.post({.opcode = IBV_WR_RDMA_WRITE, .length = 2000, .peer = &link.passive, .at = 8});
  link.active.take_send();
  link.passive.post_recv();
  link.active.post({.length = 0});  // behind it
  link.passive.take_recv();
  link.passive.note_memory(2010);
}

SCENARIO(uc_messages, write_and_announce) {
  Link link(stage, kUnreliable);
  link.active.memory().fill('a');
  link.passive.post_recv();
  link.active.post(
      {.opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .length = 6, .peer = &link.passive, .immediate = 9});
  link.active.take_send();
  link.passive.take_recv();
  link.passive.note_memory(8);
}

SCENARIO(uc_messages, that_nobody_receives_are_lost) {
  Link link(stage, kUnreliable);
  link.active.post({.length = 1});
  link.active.take_send();
  stage.settle();  // it arrives
  link.passive.post_recv();
  link.active.post({.length = 2});
  link.passive.take_recv();
  link.active.note_qp();
  link.passive.note_qp();
}

SCENARIO(uc_messages, too_long_for_the_receive) {
  Link link(stage, kUnreliable);
  link.passive.post_recv(4);
  link.active.post({.length = 5});
  link.active.take_send();
  link.passive.no_recv();
  link.active.post({.length = 4});
  link.passive.take_recv();
  link.active.note_qp();
  link.passive.note_qp();
}

SCENARIO(uc_messages, longer_than_a_packet_and_than_the_receive) {
  Link link(stage, kUnreliable);
  link.passive.post_recv(2000);
  link.active.post({.length = 4096});
  link.active.take_send();
  link.passive.no_recv();
  link.active.note_qp();
  link.passive.note_qp();
}

SCENARIO(uc_messages, written_with_a_wrong_key_are_lost) {
  Link link(stage, kUnreliable);
  link.active.memory().fill('a');
  link.passive.post_recv();
  link.active.post({.opcode = IBV_WR_RDMA_WRITE,
                    .length = 8,
                    .peer = &link.passive,
                    .key = link.passive.key().wrong()});
  link.active.take_send();
  stage.settle();  // it arrives
  link.passive.note_memory(8);
  link.active.note_qp();
  link.passive.note_qp();
}

SCENARIO(uc_messages, written_where_the_queue_pair_forbids_it_are_lost) {
  Link link(stage, kUnreliable, {.type = IBV_QPT_UC, .access = IBV_ACCESS_REMOTE_READ});
  link.active.memory().fill('a');
  link.active.post({.opcode = IBV_WR_RDMA_WRITE, .length = 8, .peer = &link.passive});
  link.active.take_send();
  stage.settle();  // it arrives
  link.passive.note_memory(8);
  link.active.note_qp();
  link.passive.note_qp();
}

SCENARIO(uc_messages, do_not_read) {
  Link link(stage, kUnreliable);
  link.active.post({.opcode = IBV_WR_RDMA_READ, .length = 8, .peer = &link.passive});
  link.active.no_send();
  link.active.note_qp();
}

SCENARIO(uc_messages, from_memory_that_is_not_ones_own) {
  Link link(stage, kUnreliable);
  link.passive.post_recv();
  link.active.post({.length = 8, .offset = Endpoint::kMemory - 4});
  link.active.take_send();
  link.active.note_qp();
  link.passive.note_qp();
}

SCENARIO(uc_messages, are_flushed_in_error) {
  Link link(stage, kUnreliable);
  link.active.post_recv();
  link.active.post_recv();
  link.active.fail();
  link.active.take_recv();
  link.active.take_recv();
  link.active.post({.length = 1});
  link.active.take_send();
}

}  // namespace anyrdma::conformance
