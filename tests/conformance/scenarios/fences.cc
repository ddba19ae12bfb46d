// Requests that wait for the answers to those before them: each carries what such an answer brings.
#include "tests/conformance/endpoint.h"
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {
namespace {

/// Memory with which everyone can tell whose it is.
void fill(Link& link) {
  link.active.memory().fill('a');
  link.passive.memory().fill('p');
}

void read(Link& link, std::uint32_t length) {
  link.active.post({.opcode = IBV_WR_RDMA_READ, .length = length, .peer = &link.passive});
}

void take_both(Link& link) {
  link.active.take_send();
  link.active.take_send();
}

}  // namespace

SCENARIO(fences, hold_a_send_until_a_read_is_answered) {
  Link link(stage);
  fill(link);
  link.passive.post_recv(64, 4096);
  read(link, 8);
  link.active.post({.length = 10, .flags = IBV_SEND_FENCE});
  take_both(link);
  link.passive.take_recv();
  link.passive.note_memory(12, 4096);
}

SCENARIO(fences, hold_a_send_until_a_long_read_is_answered) {
  Link link(stage);
  fill(link);
  link.passive.post_recv(64, 4096);
  read(link, 4000);
  link.active.post({.length = 8, .offset = 3996, .flags = IBV_SEND_FENCE});
  take_both(link);
  link.passive.take_recv();
  link.passive.note_memory(10, 4096);
}

SCENARIO(fences, hold_a_write_until_a_read_is_answered) {
  Link link(stage);
  fill(link);
  read(link, 8);
  link.active.post({.opcode = IBV_WR_RDMA_WRITE,
                    .length = 10,
                    .peer = &link.passive,
                    .at = 4096,
                    .flags = IBV_SEND_FENCE});
  take_both(link);
  link.passive.note_memory(12, 4096);
}

SCENARIO(fences, hold_a_read_until_another_is_answered) {
  Link link(stage);
  fill(link);
  link.passive.memory()[0] = 'x';
  read(link, 1);
  link.active.post({.opcode = IBV_WR_RDMA_READ,
                    .length = 1,
                    .peer = &link.passive,
                    .at = 1,
                    .flags = IBV_SEND_FENCE});
  take_both(link);
  link.active.note_memory(2);
}

SCENARIO(fences, hold_a_send_until_an_atomic_is_answered, .needs = {Ability::kAtomics}) {
  Link link(stage);
  fill(link);
  link.passive.post_recv(64, 4096);
  link.active.post({.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
                    .length = 8,
                    .peer = &link.passive,
                    .compare_add = 1});
  link.active.post({.length = 10, .flags = IBV_SEND_FENCE});
  take_both(link);
  link.passive.take_recv();
  link.passive.note_memory(12, 4096);
}

}  // namespace anyrdma::conformance
