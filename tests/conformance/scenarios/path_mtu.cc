// Messages around the length of a packet: an exact multiple of it, one byte more, one less, none.
#include "tests/conformance/endpoint.h"
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {
namespace {

/// Every length in one direction and with one operation, checked by what arrives.
void of_every_length(Link& link, std::uint32_t mtu, ibv_wr_opcode opcode) {
  const bool receives = opcode == IBV_WR_SEND || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  const bool reads = opcode == IBV_WR_RDMA_READ;
  (reads ? link.passive : link.active).memory().fill('a');
  Endpoint& target = reads ? link.active : link.passive;
  for (const std::uint32_t length : {0U, 1U, mtu - 1, mtu, mtu + 1, 2 * mtu, 2 * mtu + 1}) {
    target.memory().fill(0);
    if (receives) link.passive.post_recv();
    link.active.post({.opcode = opcode,
                      .length = length,
                      .peer = opcode == IBV_WR_SEND ? nullptr : &link.passive});
    link.active.take_send();
    if (receives) link.passive.take_recv();
    target.note_memory(2 * mtu + 8);
  }
}

}  // namespace

SCENARIO(path_mtu, of_1024_and_sends) {
  Link link(stage);
  of_every_length(link, 1024, IBV_WR_SEND);
}

SCENARIO(path_mtu, of_1024_and_writes) {
  Link link(stage);
  of_every_length(link, 1024, IBV_WR_RDMA_WRITE);
}

SCENARIO(path_mtu, of_1024_and_announced_writes) {
  Link link(stage);
  of_every_length(link, 1024, IBV_WR_RDMA_WRITE_WITH_IMM);
}

SCENARIO(path_mtu, of_1024_and_reads) {
  Link link(stage);
  of_every_length(link, 1024, IBV_WR_RDMA_READ);
}

SCENARIO(path_mtu, of_256_and_sends) {
  Link link(stage, {.mtu = IBV_MTU_256});
  of_every_length(link, 256, IBV_WR_SEND);
}

SCENARIO(path_mtu, of_256_and_reads) {
  Link link(stage, {.mtu = IBV_MTU_256});
  of_every_length(link, 256, IBV_WR_RDMA_READ);
}

SCENARIO(path_mtu, of_256_and_unreliable_writes) {
  Link link(stage, {.type = IBV_QPT_UC, .mtu = IBV_MTU_256});
  of_every_length(link, 256, IBV_WR_RDMA_WRITE_WITH_IMM);
}

SCENARIO(path_mtu, larger_at_one_end_breaks_long_messages) {
  Link link(stage, {.mtu = IBV_MTU_1024, .retry = 1}, {.mtu = IBV_MTU_512});
  link.passive.post_recv();
  link.passive.post_recv();
  link.active.post({.length = 512});
  link.active.take_send();
  link.passive.take_recv();
  link.active.post({.length = 1024});
  link.active.take_send();
  link.active.note_qp();
}

}  // namespace anyrdma::conformance
