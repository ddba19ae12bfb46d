// Memory windows of both types, and keys that are invalidated.
#include "tests/conformance/endpoint.h"
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {
namespace {

constexpr unsigned kBoth = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

/// The client writes through the server's window, and hears how that went.
void write(Link& link, const Window& window, std::uint32_t length, std::size_t at) {
  link.active.post({.opcode = IBV_WR_RDMA_WRITE,
                    .length = length,
                    .peer = &link.passive,
                    .at = at,
                    .key = window.key});
  link.active.take_send();
}

/// Within what the window is bound to, and one byte beyond.
void bind_and_write(Stage& stage, ibv_mw_type type) {
  Link link(stage);
  link.active.memory().fill('a');
  Window& window = link.passive.make_window(type);
  link.passive.bind(window, 100, 50, kBoth);
  link.passive.take_send();
  write(link, window, 50, 100);
  link.passive.note_memory(52, 99);
  write(link, window, 50, 101);
  link.active.note_qp();
}

}  // namespace

SCENARIO(windows, of_type_1_open_what_they_are_bound_to) {
  bind_and_write(stage, IBV_MW_TYPE_1);
}

SCENARIO(windows, of_type_2_open_what_they_are_bound_to) {
  bind_and_write(stage, IBV_MW_TYPE_2);
}

SCENARIO(windows, of_type_1_bound_elsewhere_lose_their_old_key) {
  Link link(stage);
  Window& window = link.passive.make_window(IBV_MW_TYPE_1);
  link.passive.bind(window, 0, 50, kBoth);
  link.passive.take_send();
  const Window old = window;
  link.passive.bind(window, 200, 50, kBoth);
  link.passive.take_send();
  write(link, window, 50, 200);
  write(link, old, 50, 0);
}

SCENARIO(windows, give_no_more_than_they_say) {
  Link link(stage);
  Window& window = link.passive.make_window(IBV_MW_TYPE_2);
  link.passive.bind(window, 0, 50, IBV_ACCESS_REMOTE_READ);
  link.passive.take_send();
  link.active.post(
      {.opcode = IBV_WR_RDMA_READ, .length = 50, .peer = &link.passive, .key = window.key});
  link.active.take_send();
  write(link, window, 50, 0);
}

SCENARIO(windows, of_type_2_are_closed_by_their_owner) {
  Link link(stage);
  Window& window = link.passive.make_window(IBV_MW_TYPE_2);
  link.passive.bind(window, 0, 50, kBoth);
  link.passive.post({.opcode = IBV_WR_LOCAL_INV, .key = window.key});
  link.passive.take_send();
  link.passive.take_send();
  write(link, window, 50, 0);
}

SCENARIO(windows, of_type_2_are_closed_by_a_message) {
  Link link(stage);
  Window& window = link.passive.make_window(IBV_MW_TYPE_2);
  link.passive.bind(window, 0, 50, kBoth);
  link.passive.take_send();
  link.passive.post_recv();
  link.active.post({.opcode = IBV_WR_SEND_WITH_INV, .length = 8, .key = window.key});
  link.active.take_send();
  link.passive.take_recv();
  write(link, window, 50, 0);
}

SCENARIO(windows, of_type_2_are_bound_again_after_they_were_closed) {
  Link link(stage);
  Window& window = link.passive.make_window(IBV_MW_TYPE_2);
  link.passive.bind(window, 0, 50, kBoth);
  link.passive.post({.opcode = IBV_WR_LOCAL_INV, .key = window.key});
  link.passive.bind(window, 200, 50, kBoth);
  for (int i = 0; i < 3; ++i) link.passive.take_send();
  write(link, window, 50, 200);
}

SCENARIO(windows, of_type_2_are_not_bound_twice) {
  Link link(stage);
  Window& window = link.passive.make_window(IBV_MW_TYPE_2);
  link.passive.bind(window, 0, 50, kBoth);
  link.passive.bind(window, 200, 50, kBoth);
  link.passive.take_send();
  link.passive.take_send();
  link.passive.note_qp();
}

SCENARIO(windows, need_a_region_that_may_be_bound) {
  Link link(stage, {}, {.memory = IBV_ACCESS_LOCAL_WRITE | kRemoteAccess});
  Window& window = link.passive.make_window(IBV_MW_TYPE_2);
  link.passive.bind(window, 0, 50, kBoth);
  link.passive.take_send();
  link.passive.note_qp();
}

SCENARIO(windows, to_write_need_a_region_that_is_written_locally) {
  Link link(stage, {}, {.memory = IBV_ACCESS_MW_BIND | IBV_ACCESS_REMOTE_READ});
  Window& window = link.passive.make_window(IBV_MW_TYPE_2);
  link.passive.bind(window, 0, 50, IBV_ACCESS_REMOTE_WRITE);
  link.passive.take_send();
  link.passive.note_qp();
}

SCENARIO(windows, beyond_the_region_are_not_bound) {
  Link link(stage);
  Window& window = link.passive.make_window(IBV_MW_TYPE_2);
  link.passive.bind(window, Endpoint::kMemory - 40, 50, kBoth);
  link.passive.take_send();
  link.passive.note_qp();
}

SCENARIO(windows, a_message_that_closes_none_fails) {
  Link link(stage);
  link.passive.post_recv();
  link.active.post(
      {.opcode = IBV_WR_SEND_WITH_INV, .length = 8, .key = link.passive.key().wrong()});
  link.active.take_send();
  link.passive.take_recv();
  link.active.note_qp();
  link.passive.note_qp();
}

SCENARIO(windows, a_region_is_not_closed_by_a_message) {
  Link link(stage);
  link.passive.post_recv();
  link.active.post({.opcode = IBV_WR_SEND_WITH_INV, .length = 8, .key = link.passive.key()});
  link.active.take_send();
  link.passive.take_recv();
}

SCENARIO(windows, what_is_no_window_is_not_closed) {
  Link link(stage);
  link.active.post({.opcode = IBV_WR_LOCAL_INV, .key = link.active.key().wrong()});
  link.active.take_send();
  link.active.note_qp();
}

SCENARIO(windows, that_are_freed_open_nothing) {
  Link link(stage);
  Window& window = link.passive.make_window(IBV_MW_TYPE_1);
  link.passive.bind(window, 0, 50, kBoth);
  link.passive.take_send();
  link.passive.free_window(window);
  write(link, window, 50, 0);
}

SCENARIO(windows, keep_their_memory_from_being_deregistered) {
  Link link(stage);
  Window& window = link.passive.make_window(IBV_MW_TYPE_2);
  link.passive.bind(window, 0, 50, kBoth);
  link.passive.take_send();
  link.passive.deregister();
}

}  // namespace anyrdma::conformance
