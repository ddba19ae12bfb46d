#include "tests/rxe_vm/kernel_side.h"

#include <arpa/inet.h>
#include <poll.h>

#include <chrono>
#include <utility>

namespace anyrdma::tests {
namespace {

constexpr int kPatience = 20'000;  // ms
constexpr auto kTimeout = std::chrono::seconds(5);
constexpr unsigned kAccess =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

}  // namespace

sockaddr_in ipv4(const std::string& address, std::uint16_t port) {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_port = htons(port);
  EXPECT_EQ(::inet_pton(AF_INET, address.c_str(), &result.sin_addr), 1);
  return result;
}

KernelSide::KernelSide(transport::Transport& transport, rdma_port_space space)
    : channel_(cm::EventChannel::create(transport).value()),
      space_(space),
      id_(cm::Id::create(*channel_, space, nullptr).value()) {}

KernelSide::~KernelSide() {
  drop();
}

void KernelSide::drop() {
  if (id_ != nullptr && id_->qp() != nullptr) id_->destroy_qp().value();
  id_.reset();
  region_ = {};
  cq_ = {};
}

void KernelSide::listen(const std::string& address, std::uint16_t port, int backlog) {
  const sockaddr_in local = ipv4(address, port);
  id_->bind(raw(local)).value();
  id_->listen(backlog).value();
}

void KernelSide::resolve(const std::string& address, std::uint16_t port) {
  const sockaddr_in remote = ipv4(address, port);
  id_->resolve_addr(nullptr, raw(remote), kTimeout).value();
  ASSERT_EQ(next_type(), RDMA_CM_EVENT_ADDR_RESOLVED) << status;
  id_->resolve_route(kTimeout).value();
  ASSERT_EQ(next_type(), RDMA_CM_EVENT_ROUTE_RESOLVED) << status;
  make_qp();
}

void KernelSide::connect(const std::vector<std::uint8_t>& data) {
  rdma_conn_param param{};
  param.private_data = data.data();
  param.private_data_len = static_cast<std::uint8_t>(data.size());
  param.responder_resources = param.initiator_depth = 1;
  param.retry_count = param.rnr_retry_count = 7;
  id_->connect(&param).value();
}

void KernelSide::take_request(cm::EventChannel& from) {
  pollfd entry{from.fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&entry, 1, kPatience), 1);
  cm::Event event = from.get().value();
  ASSERT_EQ(event.type(), RDMA_CM_EVENT_CONNECT_REQUEST);
  private_data.assign(event.private_data().begin(), event.private_data().end());
  id_ = event.take_request();
  event.ack();
  id_->migrate(*channel_).value();
  make_qp();
}

void KernelSide::accept(const std::vector<std::uint8_t>& data) {
  rdma_conn_param param{};
  param.private_data = data.data();
  param.private_data_len = static_cast<std::uint8_t>(data.size());
  param.responder_resources = param.initiator_depth = 1;
  param.rnr_retry_count = 7;
  id_->accept(&param).value();
}

cm::Event KernelSide::next() {
  pollfd entry{channel_->fd(), POLLIN, 0};
  if (::poll(&entry, 1, kPatience) != 1) {
    ADD_FAILURE() << "no event came";
    return {};
  }
  return channel_->get().value();
}

rdma_cm_event_type KernelSide::next_type() {
  const cm::Event event = next();
  status = event.status();
  private_data.assign(event.private_data().begin(), event.private_data().end());
  return event.type();
}

void KernelSide::make_qp() {
  ibv_context* const context = id_->raw()->verbs;
  ASSERT_NE(context, nullptr);
  cq_ = verbs::CompletionQueue::create(context, 32).value();
  ibv_qp_init_attr attr{};
  attr.send_cq = attr.recv_cq = cq_.get();
  attr.qp_type = space_ == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC;
  attr.cap = {.max_send_wr = 8,
              .max_recv_wr = 8,
              .max_send_sge = 1,
              .max_recv_sge = 1,
              .max_inline_data = 0};
  attr.sq_sig_all = 1;
  id_->create_qp(nullptr, &attr).value();
  region_ =
      verbs::MemoryRegion::create(id_->raw()->pd, buffer.data(), buffer.size(), kAccess).value();
}

void KernelSide::post_recv() {
  ibv_sge piece = region_.piece(0, static_cast<std::uint32_t>(buffer.size()));
  ibv_recv_wr request{};
  request.sg_list = &piece;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_recv(id_->qp(), &request, &bad), 0);
}

void KernelSide::post(ibv_wr_opcode opcode, std::uint32_t length, const KernelSide* remote) {
  ibv_sge piece = region_.piece(0, length);
  ibv_send_wr request{};
  request.sg_list = &piece;
  request.num_sge = 1;
  request.opcode = opcode;
  if (remote != nullptr) {
    request.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(remote->buffer.data());
    request.wr.rdma.rkey = remote->region().rkey;
  }
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(id_->qp(), &request, &bad), 0);
}

ibv_wc KernelSide::completion() {
  ibv_wc completion{};
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatience);
  while (ibv_poll_cq(cq_.get(), 1, &completion) == 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      ADD_FAILURE() << "no completion came";
      break;
    }
  }
  return completion;
}

void join(KernelSide& client, KernelSide& server, KernelSide& listener, const std::string& address,
          std::uint16_t port) {
  client.resolve(address, port);
  client.connect();
  server.take_request(listener.channel());
  server.accept();
  ASSERT_EQ(client.next_type(), RDMA_CM_EVENT_ESTABLISHED) << client.status;
  ASSERT_EQ(server.next_type(), RDMA_CM_EVENT_ESTABLISHED) << server.status;
}

}  // namespace anyrdma::tests
