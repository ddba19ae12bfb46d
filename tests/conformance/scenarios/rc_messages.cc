// Messages over a reliable connection, when all goes well.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(rc_messages, of_every_length) {
  const Connection pair = stage.connect();
  pair.active.memory().fill('a');
  for (const std::uint32_t length : {0U, 1U, 4096U}) {
    pair.passive.post_recv();
    pair.active.post_send(length);
    pair.active.take_send();
    pair.passive.take_recv();
  }
  pair.passive.note_memory(4096);
}

SCENARIO(rc_messages, with_an_immediate) {
  const Connection pair = stage.connect();
  pair.passive.post_recv();
  pair.passive.post_recv();
  pair.active.post_send_imm(16, 7);
  pair.active.post_send_imm(0, 0x12345678);
  pair.active.take_send();
  pair.active.take_send();
  pair.passive.take_recv();
  pair.passive.take_recv();
}

SCENARIO(rc_messages, in_both_directions) {
  const Connection pair = stage.connect();
  pair.active.post_recv(64, 64);
  pair.passive.post_recv(64, 64);
  pair.active.memory().fill('a');
  pair.passive.memory().fill('p');
  pair.active.post_send(4);
  pair.passive.post_send(4);
  pair.active.take_recv();
  pair.passive.take_recv();
  pair.active.note_memory(8, 64);
  pair.passive.note_memory(8, 64);
}

SCENARIO(rc_messages, complete_in_order) {
  const Connection pair = stage.connect();
  for (const std::uint32_t length : {1U, 4096U, 0U}) {
    pair.passive.post_recv();
    pair.active.post_send(length);
  }
  for (int i = 0; i < 3; ++i) pair.active.take_send();
  for (int i = 0; i < 3; ++i) pair.passive.take_recv();
}

SCENARIO(rc_messages, inline_are_copied_at_once) {
  const Connection pair = stage.connect({.active = {.max_inline_data = 64}});
  pair.active.memory().fill('a');
  pair.active.post_send(8, 0, IBV_SEND_INLINE);
  pair.active.memory().fill('b');
  pair.passive.post_recv();
  pair.active.take_send();
  pair.passive.take_recv();
  pair.passive.note_memory(8);
}

SCENARIO(rc_messages, inline_have_a_limit) {
  const Connection pair = stage.connect({.active = {.max_inline_data = 64}});
  pair.passive.post_recv();
  pair.active.post_send(1024, 0, IBV_SEND_INLINE);
  pair.active.post_send(64, 0, IBV_SEND_INLINE);
  pair.passive.take_recv();
}

SCENARIO(rc_messages, unsignalled_leave_no_completion) {
  const Connection pair = stage.connect({.active = {.signal_all = false}});
  for (int i = 0; i < 3; ++i) pair.passive.post_recv();
  pair.active.post_send(1);
  pair.active.post_send(2, 0, IBV_SEND_SIGNALED);
  pair.active.post_send(3);
  pair.active.take_send();
  for (int i = 0; i < 3; ++i) pair.passive.take_recv();
}

SCENARIO(rc_messages, wait_for_a_receive) {
  const Connection pair = stage.connect();
  pair.active.post_send(8);
  stage.settle();  // it arrives
  pair.passive.post_recv();
  pair.active.take_send();
  pair.passive.take_recv();
}

SCENARIO(rc_messages, may_come_before_established, .facts = {9}) {
  const Connection pair = stage.request();
  pair.passive.post_recv();
  pair.passive.accept(kNoParam);
  client.take();
  pair.active.post_send(8);
  pair.passive.take_recv();
  pair.active.take_send();
  server.take();
}

SCENARIO(rc_messages, of_the_server_may_be_earlier_than_the_clients_established, .facts = {9}) {
  const Connection pair = stage.request();
  pair.active.post_recv();
  pair.passive.accept(kNoParam);
  pair.passive.post_send(8);
  stage.settle();  // it arrives too early
  client.take();
  pair.active.take_recv();
  pair.passive.take_send();
}

SCENARIO(rc_messages, are_not_sent_before_the_connection) {
  const Connection pair = stage.request();
  pair.active.post_recv();
  pair.active.post_send(8);
  pair.passive.post_send(8);
}

SCENARIO(rc_messages, arrive_in_a_shared_receive_queue) {
  server.listening();
  Id& active = client.connecting();
  Id& passive = server.take_request();
  passive.make_srq();
  passive.make_qp();
  passive.post_recv(64);
  passive.post_recv(64, 64);
  passive.accept(kNoParam);
  client.take();
  server.take();
  active.memory().fill('a');
  active.post_send(4);
  active.post_send(8);
  passive.take_recv();
  passive.take_recv();
  passive.note_memory(80);
}

SCENARIO(rc_messages, of_two_connections_do_not_mix) {
  const Connection one = stage.connect();
  const Connection two = stage.connect();
  one.passive.post_recv();
  two.passive.post_recv();
  one.active.post_send(1);
  two.active.post_send(2);
  two.passive.take_recv();
  one.passive.take_recv();
}

}  // namespace anyrdma::conformance
