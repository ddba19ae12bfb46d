// Completions that are announced on a channel: once for each time that one asks.
#include "tests/conformance/endpoint.h"
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {
namespace {

constexpr EndpointOptions kAnnounced{.announced = true};

}  // namespace

SCENARIO(notifications, come_once_if_asked_for) {
  Link link(stage, {}, kAnnounced);
  for (int i = 0; i < 3; ++i) link.passive.post_recv();
  link.active.post({.length = 1});
  link.passive.take_recv();
  link.passive.no_notification();
  link.passive.ask_notification(false);
  link.active.post({.length = 2});
  link.passive.take_notification();
  link.active.post({.length = 3});
  link.passive.take_recv();
  link.passive.take_recv();
  link.passive.no_notification();
}

SCENARIO(notifications, of_what_is_solicited) {
  Link link(stage, {}, kAnnounced);
  link.passive.post_recv();
  link.passive.post_recv();
  link.passive.ask_notification(true);
  link.active.post({.length = 1});
  link.passive.no_notification();
  link.active.post({.length = 2, .flags = IBV_SEND_SOLICITED});
  link.passive.take_notification();
  link.passive.take_recv();
  link.passive.take_recv();
}

SCENARIO(notifications, of_a_solicited_send_with_an_immediate) {
  Link link(stage, {}, kAnnounced);
  link.passive.post_recv();
  link.passive.ask_notification(true);
  link.active.post({.opcode = IBV_WR_SEND_WITH_IMM, .length = 2, .flags = IBV_SEND_SOLICITED});
  link.passive.take_notification();
  link.passive.take_recv();
}

SCENARIO(notifications, of_a_solicited_announced_write) {
  Link link(stage, {}, kAnnounced);
  link.passive.post_recv();
  link.passive.ask_notification(true);
  link.active.post({.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
                    .length = 2,
                    .peer = &link.passive,
                    .flags = IBV_SEND_SOLICITED});
  link.passive.take_notification();
  link.passive.take_recv();
}

SCENARIO(notifications, not_of_a_write) {
  Link link(stage, {}, kAnnounced);
  link.passive.ask_notification(false);
  link.active.post({.opcode = IBV_WR_RDMA_WRITE,
                    .length = 2,
                    .peer = &link.passive,
                    .flags = IBV_SEND_SOLICITED});
  link.active.take_send();
  link.passive.no_notification();
}

SCENARIO(notifications, of_an_error_even_if_nothing_is_solicited) {
  Link link(stage, {}, kAnnounced);
  link.passive.post_recv();
  link.passive.ask_notification(true);
  link.passive.fail();
  link.passive.take_notification();
  link.passive.take_recv();
}

SCENARIO(notifications, of_what_is_solicited_on_an_unreliable_connection) {
  Link link(stage, {.type = IBV_QPT_UC}, {.type = IBV_QPT_UC, .announced = true});
  link.passive.post_recv();
  link.passive.post_recv();
  link.passive.ask_notification(true);
  link.active.post({.length = 1});
  link.active.post({.length = 2, .flags = IBV_SEND_SOLICITED});
  link.passive.take_notification();
  link.passive.take_recv();
  link.passive.take_recv();
}

}  // namespace anyrdma::conformance
