#include "tests/planted/line.h"

#include "verbs/provider.h"

namespace anyrdma::planted {

Line::~Line() {
  if (!sends_.open.empty() || !receives_.open.empty()) {
    journal_.complain("the queue pair goes before its work requests are done");
  }
  if (id_.qp() != nullptr) (void)id_.destroy_qp().has_value();
}

bool Line::open() {
  ibv_qp_init_attr attr{};
  attr.qp_type = IBV_QPT_RC;
  attr.sq_sig_all = 1;
  attr.cap.max_send_wr = 16;
  attr.cap.max_recv_wr = 2 * kReceives;
  attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
  if (!id_.create_qp(nullptr, &attr)) return false;
  memory_.resize(kBytes);
  constexpr unsigned kEverything =
      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
  auto region =
      verbs::MemoryRegion::create(id_.qp()->pd, memory_.data(), memory_.size(), kEverything);
  if (!region) return false;
  region_ = std::move(*region);
  return true;
}

// --- posting ------------------------------------------------------------------------------------

bool Line::post_receive(int slot) {
  ibv_sge piece = region_.piece(static_cast<std::size_t>(slot) * kSlotBytes, kSlotBytes);
  ibv_recv_wr request{};
  request.wr_id = receives_.next;
  request.sg_list = &piece;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  if (ibv_post_recv(id_.qp(), &request, &bad) != 0) return false;
  receives_.open.push_back(receives_.next++);
  slots_.push_back(slot);
  return true;
}

bool Line::post(ibv_wr_opcode opcode, std::size_t at, std::uint32_t length, std::uint64_t remote,
                std::uint32_t key) {
  ibv_sge piece = region_.piece(at, length);
  ibv_send_wr request{};
  request.wr_id = sends_.next;
  request.sg_list = &piece;
  request.num_sge = 1;
  request.opcode = opcode;
  request.wr.rdma.remote_addr = remote;
  request.wr.rdma.rkey = key;
  ibv_send_wr* bad = nullptr;
  if (ibv_post_send(id_.qp(), &request, &bad) != 0) return false;
  sends_.open.push_back(sends_.next++);
  return true;
}

bool Line::send(std::size_t from, std::uint32_t length) {
  return post(IBV_WR_SEND, from, length, 0, 0);
}

bool Line::write(std::size_t from, std::uint32_t length, std::uint64_t to, std::uint32_t key) {
  return post(IBV_WR_RDMA_WRITE, from, length, to, key);
}

bool Line::read(std::size_t into, std::uint32_t length, std::uint64_t from, std::uint32_t key) {
  return post(IBV_WR_RDMA_READ, into, length, from, key);
}

// --- completions --------------------------------------------------------------------------------

std::optional<ibv_wc> Line::poll(ibv_cq* cq) {
  ibv_wc completion{};
  if (ibv_poll_cq(cq, 1, &completion) != 1) return std::nullopt;
  return completion;
}

std::optional<ibv_wc> Line::wait(ibv_cq* cq, ibv_comp_channel* channel) {
  verbs::Provider& provider = verbs::provider_of(cq->context);
  while (true) {
    if (auto completion = poll(cq)) return completion;
    if (ibv_req_notify_cq(cq, 0) != 0) return std::nullopt;
    if (auto completion = poll(cq)) return completion;  // came before we asked
    if (!provider.get_cq_event(channel)) return std::nullopt;
    provider.ack_cq_events(cq, 1);
  }
}

bool Line::settle(Queue& queue, const ibv_wc& completion) {
  if (queue.open.empty()) {
    journal_.complain("a completion of nothing that is open");
    return false;
  }
  if (queue.open.front() != completion.wr_id) journal_.complain("completions out of order");
  queue.open.pop_front();
  if (completion.status == IBV_WC_SUCCESS) return true;
  // The peer's receives are there before anything is sent.
  if (completion.status == IBV_WC_RNR_RETRY_EXC_ERR) journal_.complain("nobody had a receive");
  broken_ = true;
  return false;
}

std::optional<int> Line::received(const ibv_wc& completion) {
  const bool well = settle(receives_, completion);
  if (slots_.empty()) return std::nullopt;
  const int slot = slots_.front();
  slots_.pop_front();
  if (!well) return std::nullopt;
  return slot;
}

std::optional<int> Line::try_receive() {
  const auto completion = poll(receive_cq());
  if (!completion) return std::nullopt;
  return received(*completion);
}

std::optional<int> Line::receive() {
  const auto completion = wait(receive_cq(), id_.raw()->recv_cq_channel);
  if (!completion) return std::nullopt;
  return received(*completion);
}

bool Line::finish() {
  bool well = true;
  while (!sends_.open.empty()) {
    const auto completion = wait(send_cq(), id_.raw()->send_cq_channel);
    if (!completion) return false;
    well &= settle(sends_, *completion);
  }
  return well;
}

void Line::flush() {
  if (id_.qp() == nullptr) return;
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;
  (void)verbs::provider_of(id_.qp()->context).modify_qp(id_.qp(), &attr, IBV_QP_STATE).has_value();
}

void Line::drain() {
  (void)finish();
  while (!receives_.open.empty()) {
    const auto completion = wait(receive_cq(), id_.raw()->recv_cq_channel);
    if (!completion) return;
    (void)settle(receives_, *completion);
  }
  if (poll(send_cq()) || poll(receive_cq())) journal_.complain("completions beyond the last");
}

}  // namespace anyrdma::planted
