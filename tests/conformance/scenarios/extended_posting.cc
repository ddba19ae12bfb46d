// Work requests by ibv_wr_* functions: a bracket is posted as a whole, or not at all.
#include "tests/conformance/endpoint.h"
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {
namespace {

constexpr EndpointOptions kCalls{
    .wr_calls = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_WRITE |
                IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |
                IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_SEND_WITH_INV};

/// One bracket of an endpoint's; the calls between are made on get().
class Bracket {
 public:
  explicit Bracket(Endpoint& end) : end_(end), qp_(end.qp_ex()) {
    if (qp_ != nullptr) {
      ibv_wr_start(qp_);
    } else {
      end_.note("has no ibv_wr_* functions");
    }
  }
  [[nodiscard]] explicit operator bool() const { return qp_ != nullptr; }
  [[nodiscard]] ibv_qp_ex* next() {
    qp_->wr_id = end_.take_number();
    qp_->wr_flags = IBV_SEND_SIGNALED;
    return qp_;
  }
  void piece(std::uint32_t length, std::size_t offset = 0) {
    const ibv_sge sge = end_.piece(length, offset);
    ibv_wr_set_sge(qp_, sge.lkey, sge.addr, sge.length);
  }
  void complete() { end_.note_call("wr_complete()", ibv_wr_complete(qp_)); }
  void abort() {
    ibv_wr_abort(qp_);
    end_.note("aborts");
  }

 private:
  Endpoint& end_;
  ibv_qp_ex* qp_;
};

}  // namespace

SCENARIO(extended_posting, of_several_at_once) {
  Link link(stage, kCalls, {});
  link.active.memory().fill('a');
  link.passive.post_recv();
  link.passive.post_recv();
  Bracket bracket(link.active);
  if (!bracket) return;
  const std::uint64_t there = link.passive.piece(0, 64).addr;
  ibv_wr_rdma_write(bracket.next(), link.passive.key().value, there);
  bracket.piece(8);
  ibv_wr_send_imm(bracket.next(), htobe32(7));
  bracket.piece(4);
  ibv_wr_rdma_read(bracket.next(), link.passive.key().value, there);
  bracket.piece(10, 100);
  ibv_wr_send(bracket.next());
  bracket.piece(0);
  bracket.complete();
  for (int i = 0; i < 4; ++i) link.active.take_send();
  link.passive.take_recv();
  link.passive.take_recv();
  link.passive.note_memory(76);
  link.active.note_memory(12, 100);
}

SCENARIO(extended_posting, of_inline_data) {
  Link link(stage, kCalls, {});
  link.passive.post_recv();
  Bracket bracket(link.active);
  if (!bracket) return;
  std::array<char, 3> text = {'x', 'y', 'z'};
  ibv_wr_send(bracket.next());
  ibv_wr_set_inline_data(link.active.qp_ex(), text.data(), text.size());
  text.fill('-');
  bracket.complete();
  link.active.take_send();
  link.passive.take_recv();
  link.passive.note_memory(4);
}

SCENARIO(extended_posting, is_taken_back) {
  Link link(stage, kCalls, {});
  link.passive.post_recv();
  Bracket first(link.active);
  if (!first) return;
  ibv_wr_send(first.next());
  first.piece(1);
  first.abort();
  Bracket second(link.active);
  ibv_wr_send(second.next());
  second.piece(2);
  second.complete();
  link.active.take_send();
  link.passive.take_recv();
}

SCENARIO(extended_posting, of_nothing) {
  Link link(stage, kCalls, {});
  Bracket bracket(link.active);
  if (!bracket) return;
  bracket.complete();
}

SCENARIO(extended_posting, of_more_than_the_queue_holds_posts_none) {
  Link link(stage, kCalls, {});
  Bracket bracket(link.active);
  if (!bracket) return;
  for (int i = 0; i < 200; ++i) {
    ibv_wr_rdma_write(bracket.next(), link.passive.key().value, link.passive.piece(0, 0).addr);
    bracket.piece(1);
  }
  bracket.complete();
  link.active.no_send();
}

SCENARIO(extended_posting, in_error_is_flushed) {
  Link link(stage, kCalls, {});
  link.active.fail();
  Bracket bracket(link.active);
  if (!bracket) return;
  ibv_wr_send(bracket.next());
  bracket.piece(1);
  bracket.complete();
  link.active.take_send();
}

SCENARIO(extended_posting, of_a_window_and_its_end) {
  Link link(stage, {}, kCalls);
  Window& window = link.passive.make_window(IBV_MW_TYPE_2);
  if (window.mw == nullptr) return;
  Bracket bracket(link.passive);
  if (!bracket) return;
  window.key.value = ibv_inc_rkey(window.key.value);
  const ibv_mw_bind_info part = link.passive.part(0, 50, kRemoteAccess);
  ibv_wr_bind_mw(bracket.next(), window.mw, window.key.value, &part);
  bracket.complete();
  window.mw->rkey = window.key.value;
  link.passive.take_send();
  link.active.post(
      {.opcode = IBV_WR_RDMA_WRITE, .length = 8, .peer = &link.passive, .key = window.key});
  link.active.take_send();
  Bracket end(link.passive);
  ibv_wr_local_inv(end.next(), window.key.value);
  end.complete();
  link.passive.take_send();
  link.active.post(
      {.opcode = IBV_WR_RDMA_WRITE, .length = 8, .peer = &link.passive, .key = window.key});
  link.active.take_send();
}

}  // namespace anyrdma::conformance
