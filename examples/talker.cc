#include "examples/talker.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "sim/world.h"
#include "transport/event_name.h"

namespace anyrdma::examples {

Talker::Talker(sim::Host& host, Diary& diary)
    : host_(host), diary_(diary), channel_(cm::EventChannel::create(host.transport()).value()) {}

std::unique_ptr<cm::Id> Talker::make_id() {
  return cm::Id::create(*channel_, RDMA_PS_TCP, nullptr).value();
}

bool Talker::has_news() {
  if (news_) return true;
  if (cm::Result<cm::Event> event = channel_->try_get()) news_ = std::move(*event);
  return news_.has_value();
}

std::optional<cm::Event> Talker::next() {
  std::optional<cm::Event> event = std::exchange(news_, std::nullopt);
  if (!event) {
    if (cm::Result<cm::Event> fetched = channel_->get()) event = std::move(*fetched);
  }
  if (event) note(to_string(*event));
  return event;
}

bool Talker::next_is(rdma_cm_event_type type) {
  const std::optional<cm::Event> event = next();
  return event && event->type() == type;
}

void Talker::note(const std::string& what) {
  diary_.push_back({host_.world().now(), host_.name(), what});
}

Line::Line(cm::Id& id) : id_(id) {
  ibv_qp_init_attr attr{};
  attr.qp_type = IBV_QPT_RC;
  attr.sq_sig_all = 1;
  attr.cap = {.max_send_wr = 4,
              .max_recv_wr = 4,
              .max_send_sge = 1,
              .max_recv_sge = 1,
              .max_inline_data = 0};
  id.create_qp(nullptr, &attr).value();
  constexpr unsigned kAccess =
      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
  region_ = verbs::MemoryRegion::create(id.qp()->pd, &memory, sizeof memory, kAccess).value();
}

Line::~Line() {
  static_cast<void>(id_.destroy_qp().has_value());
}

void Line::expect_invitation() {
  ibv_sge to = piece(&memory.received, sizeof memory.received);
  ibv_recv_wr request{.wr_id = 0, .next = nullptr, .sg_list = &to, .num_sge = 1};
  ibv_recv_wr* bad = nullptr;
  ibv_post_recv(id_.qp(), &request, &bad);
}

bool Line::invitation_came(Talker& self) {
  ibv_wc completion{};
  while (ibv_poll_cq(id_.qp()->recv_cq, 1, &completion) == 0) {
    if (self.has_news()) return false;
  }
  return completion.status == IBV_WC_SUCCESS;
}

bool Line::invite() {
  memory.sent = {.address = reinterpret_cast<std::uint64_t>(&memory),
                 .key = region_.get()->rkey,
                 .length = 2 * kTextBytes};
  ibv_send_wr request{};
  request.opcode = IBV_WR_SEND;
  return post(request, &memory.sent, sizeof memory.sent);
}

bool Line::read(char* to, std::uint64_t from, std::uint32_t length) {
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_READ;
  request.wr.rdma = {.remote_addr = from, .rkey = memory.received.key};
  return post(request, to, length);
}

bool Line::write(const char* from, std::uint64_t to, std::uint32_t length) {
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_WRITE;
  request.wr.rdma = {.remote_addr = to, .rkey = memory.received.key};
  return post(request, from, length);
}

bool Line::post(ibv_send_wr request, const void* local, std::uint32_t length) {
  ibv_sge sge = piece(local, length);
  request.sg_list = &sge;
  request.num_sge = 1;
  ibv_send_wr* bad = nullptr;
  return ibv_post_send(id_.qp(), &request, &bad) == 0 && succeeds(id_.qp()->send_cq);
}

ibv_sge Line::piece(const void* at, std::uint32_t length) const {
  const auto offset = static_cast<const char*>(at) - reinterpret_cast<const char*>(&memory);
  return region_.piece(static_cast<std::size_t>(offset), length);
}

bool Line::succeeds(ibv_cq* cq) {
  ibv_wc completion{};
  while (ibv_poll_cq(cq, 1, &completion) == 0) continue;  // polling lets virtual time pass
  return completion.status == IBV_WC_SUCCESS;
}

std::string to_string(const cm::Event& event) {
  std::string text = "id " + std::to_string(event.id().number()) + " ";
  text += transport::short_event_name(event.type());
  if (event.status() != 0) text += " status " + std::to_string(event.status());
  if (event.status() < 0) text += std::string(" (") + strerror(-event.status()) + ")";
  const auto data = event.private_data();
  const auto end = std::find(data.begin(), data.end(), 0);  // the rest is padding
  if (end != data.begin()) text += " \"" + std::string(data.begin(), end) + "\"";
  return text;
}

rdma_conn_param parameters(std::string_view data) {
  rdma_conn_param param{};
  param.private_data = data.data();
  param.private_data_len = static_cast<std::uint8_t>(data.size());
  param.responder_resources = 1;
  param.initiator_depth = 1;
  param.retry_count = 7;
  param.rnr_retry_count = 7;
  return param;
}

}  // namespace anyrdma::examples
