#include <array>
#include <cerrno>
#include <utility>

#include "tests/conformance/endpoint.h"
#include "tests/conformance/qp_state.h"
#include "tests/conformance/stage.h"

namespace anyrdma::conformance {
namespace {

constexpr Duration kPatience = 30s;
/// With events, which not every device raises.
constexpr Duration kPatienceForEvents = 10s;
/// How long what has been sent may take, on a busy machine too.
constexpr Duration kArrival = 1500ms;

std::string_view opcode_name(ibv_wr_opcode opcode) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"write", "write_imm", "send", "send_imm", "read", "compare_swap", "fetch_add", "local_inv",
       "bind_mw", "send_inv", "tso", "driver1", "", "", "", "atomic_write"});
  return kNames[static_cast<std::size_t>(opcode)];
}

std::string flags_text(unsigned flags) {
  std::string text;
  if ((flags & IBV_SEND_FENCE) != 0) text += " fenced";
  if ((flags & IBV_SEND_SOLICITED) != 0) text += " solicited";
  if ((flags & IBV_SEND_SIGNALED) != 0) text += " signalled";
  return text;
}

std::string access_text(unsigned access) {
  std::string text;
  if ((access & IBV_ACCESS_LOCAL_WRITE) != 0) text += " local-write";
  if ((access & IBV_ACCESS_REMOTE_WRITE) != 0) text += " write";
  if ((access & IBV_ACCESS_REMOTE_READ) != 0) text += " read";
  if ((access & IBV_ACCESS_REMOTE_ATOMIC) != 0) text += " atomic";
  if ((access & IBV_ACCESS_ZERO_BASED) != 0) text += " zero-based";
  return text.empty() ? " nothing" : text;
}

std::string part_text(std::size_t offset, std::size_t length) {
  return std::to_string(offset) + ".." + std::to_string(offset + length);
}

std::string async_text(ibv_event_type type) {
  if (type == IBV_EVENT_SRQ_LIMIT_REACHED) return "SRQ_LIMIT_REACHED";
  if (type == IBV_EVENT_QP_LAST_WQE_REACHED) return "QP_LAST_WQE_REACHED";
  if (type == IBV_EVENT_QP_FATAL) return "QP_FATAL";
  if (type == IBV_EVENT_QP_REQ_ERR) return "QP_REQ_ERR";
  if (type == IBV_EVENT_QP_ACCESS_ERR) return "QP_ACCESS_ERR";
  if (type == IBV_EVENT_CQ_ERR) return "CQ_ERR";
  if (type == IBV_EVENT_COMM_EST) return "COMM_EST";
  return "event " + std::to_string(type);
}

bool is_about_receive_queue(ibv_event_type type) {
  return type == IBV_EVENT_SRQ_LIMIT_REACHED || type == IBV_EVENT_SRQ_ERR;
}

bool is_about_queue_pair(ibv_event_type type) {
  return type <= IBV_EVENT_PATH_MIG_ERR ? type != IBV_EVENT_CQ_ERR
                                        : type == IBV_EVENT_QP_LAST_WQE_REACHED;
}

}  // namespace

// --- words --------------------------------------------------------------------------------------

void Endpoint::note(const std::string& what) {
  party_.stage().add(party_.side(), name_ + " " + what);
}

void Endpoint::note_call(const std::string& call, int error) {
  party_.stage().add(party_.side(), name_ + "." + call + ": " + error_text(error));
}

// --- work ---------------------------------------------------------------------------------------

ibv_sge Endpoint::piece(std::uint32_t length, std::size_t offset) const {
  return {.addr = reinterpret_cast<std::uintptr_t>(memory_->data()) + offset,
          .length = length,
          .lkey = region_ ? region_.get()->lkey : 0};
}

Key Endpoint::key() const {
  return {region_ ? region_.get()->rkey : 0, name_ + "'s key"};
}

void Endpoint::post_recv(std::uint32_t length, std::size_t offset) {
  const std::string call = "post_recv(" + std::to_string(length) + ")";
  if (!ready_) return note("is not connected");
  ibv_sge sge = piece(length, offset);
  ibv_recv_wr request{};
  request.wr_id = take_number();
  request.sg_list = &sge;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  const int error = srq_ != nullptr ? ibv_post_srq_recv(srq_, &request, &bad)
                                    : ibv_post_recv(qp_.get(), &request, &bad);
  note_call(call + " #" + std::to_string(request.wr_id), error);
}

ibv_send_wr Endpoint::work_request(const Request& request, ibv_sge& sge) const {
  ibv_send_wr wr{};
  wr.opcode = request.opcode;
  wr.send_flags = request.flags;
  wr.sg_list = &sge;
  wr.num_sge = request.opcode == IBV_WR_LOCAL_INV ? 0 : 1;
  wr.imm_data = htobe32(request.immediate);
  if (request.opcode == IBV_WR_LOCAL_INV || request.opcode == IBV_WR_SEND_WITH_INV) {
    wr.invalidate_rkey = request.key->value;
  }
  if (ah_ != nullptr) {
    wr.wr.ud = {.ah = ah_, .remote_qpn = peer_number_, .remote_qkey = kQueueKey};
    return wr;
  }
  if (request.peer == nullptr) return wr;
  if (options_.type == IBV_QPT_XRC_SEND) wr.qp_type.xrc.remote_srqn = request.peer->srq_number();
  const Key opening = request.key.value_or(request.peer->key());
  const std::uint64_t address =
      opening.zero_based ? request.at : request.peer->piece(0, request.at).addr;
  const std::uint32_t key = opening.value;
  if (request.opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
      request.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    wr.wr.atomic = {.remote_addr = address,
                    .compare_add = request.compare_add,
                    .swap = request.swap,
                    .rkey = key};
  } else {
    wr.wr.rdma = {.remote_addr = address, .rkey = key};
  }
  return wr;
}

void Endpoint::post(ibv_send_wr& request, const std::string& what) {
  request.wr_id = take_number();
  ibv_send_wr* bad = nullptr;
  const int error = ibv_post_send(qp_.get(), &request, &bad);
  note_call("post(" + what + ") #" + std::to_string(request.wr_id), error);
}

void Endpoint::post(const Request& request) {
  if (!ready_) return note("is not connected");
  std::string text(opcode_name(request.opcode));
  if (request.opcode != IBV_WR_LOCAL_INV) text += " " + std::to_string(request.length);
  if (request.peer != nullptr) {
    text += " at " + request.peer->name();
    if (request.at != 0) text += "+" + std::to_string(request.at);
  }
  if (request.key) text += " with " + request.key->name;
  text += flags_text(request.flags);
  if (request.from != nullptr) text += " from " + request.from->name();
  const Endpoint& source = request.from != nullptr ? *request.from : *this;
  ibv_sge sge = source.piece(request.length, request.offset);
  ibv_send_wr wr = work_request(request, sge);
  post(wr, text);
}

void Endpoint::take(ibv_cq* cq, std::string_view queue) {
  ibv_wc done{};
  const auto came = [&] { return ibv_poll_cq(cq, 1, &done) == 1; };
  if (!ready_) return note("is not connected");
  if (!party_.stage().backend().wait_until(came, kPatience)) {
    return note(std::string(queue) + ": no completion");
  }
  failed_ = leads_to_err(done, options_.type);
  std::string text =
      std::string(queue) + " #" + std::to_string(done.wr_id) + ": " + completion_text(done.status);
  if (done.status == IBV_WC_SUCCESS) {
    text += " " + opcode_text(done.opcode);
    if ((done.opcode & IBV_WC_RECV) != 0) {
      text += " " + std::to_string(done.byte_len) + " bytes";
      if ((done.wc_flags & IBV_WC_WITH_IMM) != 0) {
        text += " imm=" + std::to_string(be32toh(done.imm_data));
      }
      if ((done.wc_flags & IBV_WC_WITH_INV) != 0) text += " invalidated";
    }
  }
  note(text);
}

void Endpoint::take_send() {
  take(send_cq_.get(), "send");
}

void Endpoint::take_recv() {
  take(recv_cq_.get(), "recv");
}

void Endpoint::expect_none(ibv_cq* cq, std::string_view queue) {
  ibv_wc done{};
  if (!ready_) return note("is not connected");
  const bool came =
      party_.stage().backend().wait_until([&] { return ibv_poll_cq(cq, 1, &done) == 1; }, kArrival);
  note(std::string(queue) + (came ? ": " + completion_text(done.status) : ": nothing"));
}

void Endpoint::no_send() {
  expect_none(send_cq_.get(), "send");
}

void Endpoint::no_recv() {
  expect_none(recv_cq_.get(), "recv");
}

void Endpoint::to_state(ibv_qp_state state) {
  if (!ready_) return note("is not connected");
  ibv_qp_attr attr{};
  attr.qp_state = state;
  note_call("modify_qp(" + qp_state_text(state) + ")",
            calls().verbs.modify_qp(qp(), &attr, IBV_QP_STATE));
}

void Endpoint::await_state(ibv_qp_state state) {
  if (ready_) await_qp_state(party_, qp(), state);
}

void Endpoint::note_qp() {
  if (!ready_) return note("is not connected");
  if (failed_) await_state(IBV_QPS_ERR);
  ibv_qp_state state{};
  const int error = query_qp_state(party_, qp(), state);
  note("qp " + (error == 0 ? "is " + qp_state_text(state) : "query: " + error_text(error)));
}

// --- notifications ------------------------------------------------------------------------------

void Endpoint::ask_notification(bool solicited_only) {
  if (!ready_) return note("is not connected");
  note_call(solicited_only ? "req_notify_cq(solicited)" : "req_notify_cq()",
            ibv_req_notify_cq(recv_cq_.get(), solicited_only ? 1 : 0));
}

bool Endpoint::wait_notification(Duration patience) {
  return party_.stage().backend().wait_until(
      [&] {
        ibv_cq* cq = nullptr;
        void* context = nullptr;
        if (calls().verbs.get_cq_event(channel_.get(), &cq, &context) != 0) return false;
        calls().verbs.ack_cq_events(cq, 1);
        return true;
      },
      patience);
}

void Endpoint::take_notification() {
  if (!ready_) return note("is not connected");
  note(wait_notification(kPatience) ? "is notified" : "no notification");
}

void Endpoint::no_notification() {
  if (!ready_) return note("is not connected");
  note(wait_notification(kArrival) ? "is notified" : "is not notified");
}

void Endpoint::moderate(std::uint16_t count, std::uint16_t period) {
  if (!ready_) return note("is not connected");
  ibv_modify_cq_attr attr{.attr_mask = IBV_CQ_ATTR_MODERATE,
                          .moderate = {.cq_count = count, .cq_period = period}};
  note_call("modify_cq(" + std::to_string(count) + " or " + std::to_string(period) + " us)",
            ibv_modify_cq(recv_cq_.get(), &attr));
}

// --- memory -------------------------------------------------------------------------------------

void Endpoint::note_memory(std::size_t length, std::size_t offset) {
  note("memory: " + bytes_text(std::span(*memory_).subspan(offset, length)));
}

void Endpoint::rereg(int flags, unsigned access, std::size_t offset, std::size_t length) {
  if (!ready_) return note("is not connected");
  std::string text;
  if ((flags & IBV_REREG_MR_CHANGE_ACCESS) != 0) text += access_text(access);
  if ((flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0) text += " " + part_text(offset, length);
  const Calls& calls = this->calls();
  const int answer = calls.verbs.rereg_mr(region_.get(), flags, pd_.get(), memory_->data() + offset,
                                          length, static_cast<int>(access));
  // -1 to -5 say how far it came; why is in errno.
  const int error = answer < 0 ? calls.last_error() : answer;
  note_call("rereg_mr(" + text.substr(text.empty() ? 0 : 1) + ")", error);
}

void Endpoint::deregister() {
  note_call("dereg_mr()", region_.destroy());
}

Window& Endpoint::make_window(ibv_mw_type type) {
  Window& window = windows_.emplace_back();
  window.key.name = name_ + "'s window";
  const std::string call = "alloc_mw(" + std::to_string(type) + ")";
  if (!ready_) {
    note("is not connected");
    return window;
  }
  window.mw = ibv_alloc_mw(pd_.get(), type);
  note_call(call, window.mw != nullptr ? 0 : calls().last_error());
  if (window.mw != nullptr) window.key.value = window.mw->rkey;
  return window;
}

ibv_mw_bind_info Endpoint::part(std::size_t offset, std::size_t length, unsigned access) const {
  return {.mr = region_.get(),
          .addr = piece(0, offset).addr,
          .length = length,
          .mw_access_flags = access};
}

void Endpoint::bind(Window& window, std::size_t offset, std::size_t length, unsigned access) {
  if (window.mw == nullptr) return note("has no window");
  const ibv_mw_bind_info info = part(offset, length, access);
  const std::string text = part_text(offset, length) + access_text(access);
  if (window.mw->type == IBV_MW_TYPE_1) {
    ibv_mw_bind bind{.wr_id = take_number(), .send_flags = IBV_SEND_SIGNALED, .bind_info = info};
    const int error = ibv_bind_mw(qp_.get(), window.mw, &bind);
    note_call("bind_mw(" + text + ") #" + std::to_string(bind.wr_id), error);
    window.key.value = window.mw->rkey;
    return;
  }
  window.key.value = ibv_inc_rkey(window.key.value);
  ibv_send_wr request{};
  request.opcode = IBV_WR_BIND_MW;
  request.bind_mw = {.mw = window.mw, .rkey = window.key.value, .bind_info = info};
  post(request, "bind_mw " + text);
  window.mw->rkey = window.key.value;  // the application's to keep, which drivers rely upon
}

void Endpoint::free_window(Window& window) {
  if (window.mw == nullptr) return note("has no window");
  const int error = ibv_dealloc_mw(window.mw);
  note_call("dealloc_mw()", error);
  if (error == 0) window.mw = nullptr;
}

// --- events -------------------------------------------------------------------------------------

void Endpoint::set_limit(std::uint32_t limit) {
  if (srq_ == nullptr) return note("has no shared receives");
  ibv_srq_attr attr{.max_wr = 0, .max_sge = 0, .srq_limit = limit};
  note_call("modify_srq(limit " + std::to_string(limit) + ")",
            calls().verbs.modify_srq(srq_, &attr, IBV_SRQ_LIMIT));
}

void Endpoint::note_limit() {
  if (srq_ == nullptr) return note("has no shared receives");
  ibv_srq_attr attr{};
  const int error = calls().verbs.query_srq(srq_, &attr);
  note("limit " + (error == 0 ? std::to_string(attr.srq_limit) : error_text(error)));
}

std::string Endpoint::poll_async() {
  const Calls::Verbs& verbs = calls().verbs;
  ibv_async_event event{};
  while (verbs.get_async_event(context_, &event) == 0) {
    const ibv_event_type type = event.event_type;
    const bool mine = (type == IBV_EVENT_CQ_ERR && event.element.cq == recv_cq_.get()) ||
                      (is_about_receive_queue(type) && event.element.srq == srq_) ||
                      (is_about_queue_pair(type) && event.element.qp == qp_.get());
    verbs.ack_async_event(&event);
    if (mine) return async_text(type);
  }
  return {};
}

void Endpoint::take_async(Duration patience) {
  if (!ready_) return note("is not connected");
  std::string text;
  (void)party_.stage().backend().wait_until(
      [&] {
        text = poll_async();
        return !text.empty();
      },
      patience);
  note(text.empty() ? "hears nothing" : "hears " + text);
}

void Endpoint::take_async() {
  take_async(kPatienceForEvents);
}

void Endpoint::no_async() {
  take_async(kArrival);
}

}  // namespace anyrdma::conformance
