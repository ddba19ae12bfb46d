// Completion queues that are polled field by field.
#include <string>

#include "tests/conformance/endpoint.h"
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {
namespace {

constexpr std::uint64_t kFields =
    IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_SRC_QP;
constexpr EndpointOptions kPolled{.wc_fields = kFields};

/// The fields of the completion at hand.
void note_fields(Link& link) {
  ibv_cq_ex* const cq = link.passive.cq_ex();
  std::string text = "recv #" + std::to_string(cq->wr_id) + ": " + completion_text(cq->status) +
                     " " + (ibv_wc_read_qp_num(cq) == link.passive.qp()->qp_num ? "mine" : "?");
  if (cq->status == IBV_WC_SUCCESS) {
    text += " " + opcode_text(ibv_wc_read_opcode(cq)) + " " +
            std::to_string(ibv_wc_read_byte_len(cq)) + " bytes";
    if ((ibv_wc_read_wc_flags(cq) & IBV_WC_WITH_IMM) != 0)
      text += " imm=" + std::to_string(be32toh(ibv_wc_read_imm_data(cq)));
  }
  link.passive.note(text);
}

/// Polls until nothing is left: how each step answers, and what it gives.
void poll_all(Link& link) {
  ibv_cq_ex* const cq = link.passive.cq_ex();
  ibv_poll_cq_attr none{};
  int error = ibv_start_poll(cq, &none);
  link.passive.note_call("start_poll()", error);
  if (error != 0) return;
  while (error == 0) {
    note_fields(link);
    error = ibv_next_poll(cq);
    link.passive.note_call("next_poll()", error);
  }
  ibv_end_poll(cq);
}

}  // namespace

SCENARIO(extended_polling, of_an_empty_queue) {
  Link link(stage, {}, kPolled);
  if (link.passive.is_made()) poll_all(link);
}

SCENARIO(extended_polling, of_fields_that_no_completion_has) {
  Endpoint alone(server, {.wc_fields = std::uint64_t{1} << 40});
  alone.note_made();
}

SCENARIO(extended_polling, of_several_receives) {
  Link link(stage, {}, kPolled);
  for (int i = 0; i < 3; ++i) link.passive.post_recv();
  link.active.post({.length = 8});
  link.active.post({.opcode = IBV_WR_SEND_WITH_IMM, .length = 0, .immediate = 42});
  link.active.post({.opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .length = 5, .peer = &link.passive});
  for (int i = 0; i < 3; ++i) link.active.take_send();
  stage.settle();  // all have completed
  if (link.passive.is_made()) poll_all(link);
}

SCENARIO(extended_polling, of_flushed_receives) {
  Link link(stage, {}, kPolled);
  link.passive.post_recv();
  link.passive.post_recv();
  link.passive.fail();
  stage.settle();  // all have completed
  if (link.passive.is_made()) poll_all(link);
}

SCENARIO(extended_polling, goes_with_the_usual_way) {
  Link link(stage, {}, kPolled);
  link.passive.post_recv();
  link.passive.post_recv();
  link.active.post({.length = 1});
  link.active.post({.length = 2});
  link.passive.take_recv();
  link.active.take_send();
  link.active.take_send();
  stage.settle();  // all have completed
  if (link.passive.is_made()) poll_all(link);
}

}  // namespace anyrdma::conformance
