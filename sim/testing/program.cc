#include "sim/testing/program.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace anyrdma::sim::testing {

std::vector<rdma_cm_event_type> types_of(const std::vector<Seen>& events) {
  std::vector<rdma_cm_event_type> types;
  for (const Seen& event : events) types.push_back(event.type);
  return types;
}

std::vector<std::uint8_t> padded(std::string_view text, std::size_t size) {
  std::vector<std::uint8_t> bytes(text.begin(), text.end());
  bytes.resize(size);
  return bytes;
}

Program::Program(Host& host)
    : host_(host), channel_(cm::EventChannel::create(host.transport()).value()) {}

std::unique_ptr<cm::Id> Program::make_id() {
  return cm::Id::create(*channel_, RDMA_PS_TCP, nullptr).value();
}

std::unique_ptr<cm::Id> Program::listen(const Address& local, int backlog) {
  auto id = make_id();
  const sockaddr_storage address = local.to_sockaddr();
  id->bind(reinterpret_cast<const sockaddr*>(&address)).value();
  id->listen(backlog).value();
  return id;
}

std::unique_ptr<cm::Id> Program::resolve(const Address& peer) {
  auto id = make_id();
  const sockaddr_storage address = peer.to_sockaddr();
  id->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&address), kPatience).value();
  expect(RDMA_CM_EVENT_ADDR_RESOLVED);
  id->resolve_route(kPatience).value();
  expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
  return id;
}

void Program::log(const cm::Event& event) {
  Seen& entry = seen.emplace_back();
  entry.id = event.id().number();
  entry.listener = event.listen_id() == nullptr ? 0 : event.listen_id()->number();
  entry.type = event.type();
  entry.status = event.status();
  entry.conn = event.conn();
  entry.conn.private_data = nullptr;
  const auto data = event.private_data();
  entry.data.assign(data.begin(), data.end());
  entry.when = host_.world().now();
}

std::optional<cm::Event> Program::next() {
  verbs::Result<cm::Event> event = channel_->get();
  if (!event) return std::nullopt;
  log(*event);
  return std::move(*event);
}

Seen Program::expect(rdma_cm_event_type type) {
  const std::optional<cm::Event> event = next();
  if (!event) {
    ADD_FAILURE() << "no event, but one of type " << type << " was due on " << host_.name();
    return {};
  }
  EXPECT_EQ(event->type(), type) << "on " << host_.name() << ", status " << event->status();
  return seen.back();
}

std::unique_ptr<cm::Id> Program::expect_request() {
  std::optional<cm::Event> event = next();
  if (!event) return nullptr;
  EXPECT_EQ(event->type(), RDMA_CM_EVENT_CONNECT_REQUEST);
  return event->take_request();
}

void Program::take_all() {
  while (true) {
    const verbs::Result<cm::Event> event = channel_->try_get();
    if (!event) return;
    log(*event);
  }
}

Pipe::Pipe(cm::Id& id) : id_(id) {
  ibv_qp_init_attr attr{};
  attr.qp_type = IBV_QPT_RC;
  attr.sq_sig_all = 1;
  attr.cap = {.max_send_wr = 8,
              .max_recv_wr = 8,
              .max_send_sge = 1,
              .max_recv_sge = 1,
              .max_inline_data = 0};
  id.create_qp(nullptr, &attr).value();
  constexpr unsigned kEverything =
      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
  memory_ = verbs::MemoryRegion::create(id.qp()->pd, buffer_.data(), kBytes, kEverything).value();
}

Pipe::~Pipe() {
  (void)id_.destroy_qp().has_value();
}

void Pipe::post_receive(std::uint64_t wr_id, std::size_t at, std::uint32_t length) {
  ibv_sge piece = memory_.piece(at, length);
  ibv_recv_wr request{.wr_id = wr_id, .next = nullptr, .sg_list = &piece, .num_sge = 1};
  ibv_recv_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_recv(id_.qp(), &request, &bad), 0);
}

void Pipe::post(ibv_wr_opcode opcode, std::uint64_t wr_id, std::size_t at, std::uint32_t length,
                std::uint64_t remote_address, std::uint32_t remote_key) {
  ibv_sge piece = memory_.piece(at, length);
  ibv_send_wr request{};
  request.wr_id = wr_id;
  request.sg_list = &piece;
  request.num_sge = 1;
  request.opcode = opcode;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.rdma.remote_addr = remote_address;
  request.wr.rdma.rkey = remote_key;
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_send(id_.qp(), &request, &bad), 0);
}

ibv_wc Pipe::wait(ibv_cq* cq) {
  ibv_wc completion{};
  while (ibv_poll_cq(cq, 1, &completion) == 0) continue;
  return completion;
}

rdma_conn_param parameters(std::string_view data, std::uint8_t responder_resources,
                           std::uint8_t initiator_depth) {
  rdma_conn_param param{};
  param.private_data = data.data();
  param.private_data_len = static_cast<std::uint8_t>(data.size());
  param.responder_resources = responder_resources;
  param.initiator_depth = initiator_depth;
  param.retry_count = 7;
  param.rnr_retry_count = 7;
  return param;
}

}  // namespace anyrdma::sim::testing
