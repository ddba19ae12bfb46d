#include <array>
#include <cerrno>
#include <utility>

#include "tests/conformance/event_text.h"
#include "tests/conformance/qp_state.h"
#include "tests/conformance/stage.h"

namespace anyrdma::conformance {
namespace {

constexpr Duration kPatience = 30s;
constexpr Duration kOverdue = 30s;

std::string opcode_name(ibv_wr_opcode opcode) {
  switch (opcode) {
    case IBV_WR_RDMA_WRITE:
      return "write";
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return "write_imm";
    case IBV_WR_RDMA_READ:
      return "read";
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      return "compare_swap";
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return "fetch_add";
    default:  // foreign enum
      return "opcode " + std::to_string(opcode);
  }
}

std::string target_text(const Target& target) {
  std::string text = target.id->name();
  if (target.offset != 0) text += "+" + std::to_string(target.offset);
  if (target.rkey_change != 0) text += " with a wrong key";
  return text;
}

}  // namespace

void Id::make_qp(const QpOptions& options) {
  ibv_qp_init_attr attr{};
  if (id_ != nullptr) attr.qp_type = options.type.value_or(id_->qp_type);
  attr.sq_sig_all = options.signal_all ? 1 : 0;
  attr.cap.max_send_wr = options.max_send_wr;
  attr.cap.max_recv_wr = options.max_recv_wr;
  attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
  attr.cap.max_inline_data = options.max_inline_data;
  perform("make_qp()", [&](const Calls::Cm& cm) { return cm.create_qp(id_, nullptr, &attr); });
  if (id_ == nullptr || id_->qp == nullptr) return;
  had_ = id_->qp->qp_num;
  if (region_) return;
  const Calls& calls = this->calls();
  region_ = {
      calls.verbs.reg_mr(id_->qp->pd, memory_->data(), kMemory, static_cast<int>(options.access)),
      calls.verbs.dereg_mr};
  if (!region_) note_call("reg_mr()", error_text(calls.last_error()));
}

void Id::destroy_qp() {
  perform("destroy_qp()", [&](const Calls::Cm& cm) {
    cm.destroy_qp(id_);
    return 0;
  });
}

void Id::make_srq() {
  ibv_srq_init_attr attr{};
  attr.attr = {.max_wr = 4, .max_sge = 1, .srq_limit = 0};
  perform("make_srq()", [&](const Calls::Cm& cm) { return cm.create_srq(id_, nullptr, &attr); });
}

void Id::note_attr(int mask, const std::function<std::string(const ibv_qp_attr&)>& text) {
  if (id_ == nullptr || id_->qp == nullptr) return note("has no qp");
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  const int error = calls().verbs.query_qp(id_->qp, &attr, mask, &init);
  note("qp " + (error == 0 ? text(attr) : "query: " + error_text(error)));
}

void Id::note_qp() {
  if (failed_ && id_ != nullptr && id_->qp != nullptr) await_qp_state(party_, id_->qp, IBV_QPS_ERR);
  note_attr(IBV_QP_STATE,
            [](const ibv_qp_attr& attr) { return "is " + qp_state_text(attr.qp_state); });
}

void Id::note_depths() {
  note_attr(IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC, [this](const ibv_qp_attr& attr) {
    const DepthLimits limits = depth_limits(calls(), id_->qp->context);
    return "starts " + depth_text(attr.max_rd_atomic, limits.starts) + " reads and serves " +
           depth_text(attr.max_dest_rd_atomic, limits.serves);
  });
}

void Id::note_retries() {
  note_attr(IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY, [](const ibv_qp_attr& attr) {
    return "retries " + std::to_string(attr.retry_cnt) + " times, without receive " +
           std::to_string(attr.rnr_retry);
  });
}

void Id::note_timeout() {
  note_attr(IBV_QP_TIMEOUT,
            [](const ibv_qp_attr& attr) { return "has timeout " + std::to_string(attr.timeout); });
}

ibv_sge Id::piece(std::uint32_t length, std::size_t offset) const {
  return {.addr = reinterpret_cast<std::uintptr_t>(memory_->data()) + offset,
          .length = length,
          .lkey = region_ ? region_.get()->lkey : 0};
}

void Id::post_recv(std::uint32_t length, std::size_t offset) {
  const std::string call = "post_recv(" + std::to_string(length) + ")";
  if (id_ == nullptr || id_->qp == nullptr) return note_call(call, "no qp");
  ibv_sge sge = piece(length, offset);
  ibv_recv_wr request{};
  request.wr_id = ++posted_;
  request.sg_list = &sge;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  const int error = id_->qp->srq != nullptr ? ibv_post_srq_recv(id_->qp->srq, &request, &bad)
                                            : ibv_post_recv(id_->qp, &request, &bad);
  note_call(call + " #" + std::to_string(posted_), error_text(error));
}

void Id::post(ibv_send_wr request, const std::string& what) {
  if (id_ == nullptr || id_->qp == nullptr) return note_call(what, "no qp");
  request.wr_id = ++posted_;
  ibv_send_wr* bad = nullptr;
  const int error = ibv_post_send(id_->qp, &request, &bad);
  note_call(what + " #" + std::to_string(posted_), error_text(error));
}

void Id::post_send(std::uint32_t length, std::size_t offset, unsigned flags) {
  ibv_sge sge = piece(length, offset);
  ibv_send_wr request{};
  request.opcode = IBV_WR_SEND;
  request.send_flags = flags;
  request.sg_list = &sge;
  request.num_sge = 1;
  std::string text = std::to_string(length);
  if ((flags & IBV_SEND_INLINE) != 0) text += " inline";
  if ((flags & IBV_SEND_SOLICITED) != 0) text += " solicited";
  post(request, "post_send(" + text + ")");
}

void Id::post_send_imm(std::uint32_t length, std::uint32_t immediate) {
  ibv_sge sge = piece(length, 0);
  ibv_send_wr request{};
  request.opcode = IBV_WR_SEND_WITH_IMM;
  request.imm_data = htobe32(immediate);
  request.sg_list = &sge;
  request.num_sge = 1;
  post(request, "post_send_imm(" + std::to_string(length) + ")");
}

void Id::post_datagram(std::uint32_t length) {
  const std::string call = "post_datagram(" + std::to_string(length) + ")";
  if (id_ == nullptr || id_->qp == nullptr) return note_call(call, "no qp");
  if (ah_ == nullptr) {
    ah_ = calls().verbs.create_ah(id_->qp->pd, &ud_.ah_attr);
    if (ah_ == nullptr) return note_call(call, "create_ah " + error_text(calls().last_error()));
  }
  ibv_sge sge = piece(length, 0);
  ibv_send_wr request{};
  request.opcode = IBV_WR_SEND;
  request.sg_list = &sge;
  request.num_sge = 1;
  request.wr.ud.ah = ah_;
  request.wr.ud.remote_qpn = ud_.qp_num;
  request.wr.ud.remote_qkey = ud_.qkey;
  post(request, call);
}

void Id::post_rdma(ibv_wr_opcode opcode, const Target& target, std::uint32_t length,
                   std::size_t offset) {
  ibv_sge sge = piece(length, offset);
  ibv_send_wr request{};
  request.opcode = opcode;
  request.sg_list = &sge;
  request.num_sge = 1;
  const ibv_sge there = target.id->piece(0, target.offset);
  request.wr.rdma.remote_addr = there.addr;
  request.wr.rdma.rkey = target.id->rkey() + target.rkey_change;
  post(request, "post_" + opcode_name(opcode) + "(" + std::to_string(length) + " " +
                    target_text(target) + ")");
}

void Id::post_atomic(ibv_wr_opcode opcode, const Target& target, std::uint64_t compare_add,
                     std::uint64_t swap, std::size_t offset) {
  ibv_sge sge = piece(sizeof(std::uint64_t), offset);
  ibv_send_wr request{};
  request.opcode = opcode;
  request.sg_list = &sge;
  request.num_sge = 1;
  request.wr.atomic.remote_addr = target.id->piece(0, target.offset).addr;
  request.wr.atomic.rkey = target.id->rkey() + target.rkey_change;
  request.wr.atomic.compare_add = compare_add;
  request.wr.atomic.swap = swap;
  post(request, "post_" + opcode_name(opcode) + "(" + target_text(target) + ")");
}

void Id::take(ibv_cq* cq, std::string_view queue, const Within& within) {
  const bool bounded = within.at_most != Duration{};
  ibv_wc done{};
  const bool came =
      party_.stage().backend().wait_until([&] { return ibv_poll_cq(cq, 1, &done) == 1; },
                                          bounded ? within.at_most + kOverdue : kPatience);
  if (!came) return note(std::string(queue) + ": no completion");
  failed_ = leads_to_err(done, id_->qp_type);
  std::string text =
      std::string(queue) + " #" + std::to_string(done.wr_id) + ": " + completion_text(done.status);
  if (done.status == IBV_WC_SUCCESS) {
    text += " " + opcode_text(done.opcode);
    if ((done.opcode & IBV_WC_RECV) != 0) text += " " + std::to_string(done.byte_len) + " bytes";
    if ((done.wc_flags & IBV_WC_WITH_IMM) != 0) {
      text += " imm=" + std::to_string(be32toh(done.imm_data));
    }
  }
  note(text);
}

void Id::take_send(const Within& within) {
  if (id_ == nullptr || id_->qp == nullptr) return note("has no qp");
  take(id_->qp->send_cq, "send", within);
}

void Id::take_recv(const Within& within) {
  if (id_ == nullptr || id_->qp == nullptr) return note("has no qp");
  take(id_->qp->recv_cq, "recv", within);
}

void Id::note_memory(std::size_t length, std::size_t offset) {
  note("memory: " + bytes_text(std::span(*memory_).subspan(offset, length)));
}

}  // namespace anyrdma::conformance
