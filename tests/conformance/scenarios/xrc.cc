// Extended connections: messages that name a shared receive queue at the other end.
#include "tests/conformance/endpoint.h"
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {
namespace {

constexpr EndpointOptions kSender{.type = IBV_QPT_XRC_SEND};
constexpr EndpointOptions kReceiver{.type = IBV_QPT_XRC_RECV};

}  // namespace

SCENARIO(xrc, has_domains) {
  Endpoint alone(server, kReceiver);
  alone.note_made();
}

SCENARIO(xrc, messages_arrive, .needs = {Ability::kXrc}) {
  Link link(stage, kSender, kReceiver);
  link.active.memory().fill('a');
  for (const std::uint32_t length : {0U, 8U, 1025U}) {
    link.passive.post_recv();
    link.active.post({.length = length, .peer = &link.passive});
    link.active.take_send();
    link.passive.take_recv();
  }
  link.passive.note_memory(1030);
}

SCENARIO(xrc, memory_is_written_and_read, .needs = {Ability::kXrc}) {
  Link link(stage, kSender, kReceiver);
  link.active.memory().fill('a');
  link.active.post({.opcode = IBV_WR_RDMA_WRITE, .length = 8, .peer = &link.passive});
  link.active.take_send();
  link.passive.note_memory(10);
  link.active.post(
      {.opcode = IBV_WR_RDMA_READ, .length = 10, .offset = 100, .peer = &link.passive});
  link.active.take_send();
  link.active.note_memory(12, 100);
}

SCENARIO(xrc, memory_is_written_and_announced, .needs = {Ability::kXrc}) {
  Link link(stage, kSender, kReceiver);
  link.passive.post_recv();
  link.active.post({.opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .length = 8, .peer = &link.passive});
  link.active.take_send();
  link.passive.take_recv();
}

SCENARIO(xrc, a_queue_that_nobody_has, .needs = {Ability::kXrc}) {
  Link link(stage, kSender, kReceiver);
  Endpoint stranger(client, {});
  link.active.post({.length = 8, .peer = &stranger});
  link.active.take_send();
  link.active.note_qp();
  link.passive.note_qp();
}

SCENARIO(xrc, a_queue_of_another_domain, .needs = {Ability::kXrc}) {
  Link link(stage, kSender, kReceiver);
  Endpoint stranger(server, kReceiver);
  stranger.post_recv();
  link.active.post({.length = 8, .peer = &stranger});
  link.active.take_send();
  link.active.note_qp();
}

SCENARIO(xrc, receives_run_out, .needs = {Ability::kXrc}) {
  Link link(stage, {.type = IBV_QPT_XRC_SEND, .rnr_retry = 1}, kReceiver);
  link.active.post({.length = 8, .peer = &link.passive});
  link.active.take_send();
}

SCENARIO(xrc, few_receives_are_announced, .needs = {Ability::kXrc}) {
  Link link(stage, kSender, kReceiver);
  link.passive.post_recv();
  link.passive.post_recv();
  link.passive.set_limit(2);
  link.active.post({.length = 8, .peer = &link.passive});
  link.passive.take_recv();
  link.passive.take_async();
}

}  // namespace anyrdma::conformance
