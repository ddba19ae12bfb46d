#include "transport/station/testing/party.h"

#include <arpa/inet.h>
#include <poll.h>

#include <chrono>
#include <utility>

#include "transport/realtime/testing/eventually.h"
#include "verbs/assert.h"

namespace anyrdma::transport::station::testing {
namespace {

using realtime::testing::eventually;

constexpr int kPatience = 60'000;  // ms
constexpr unsigned kAccess =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

sockaddr_in to_sockaddr(const char* address, std::uint16_t port) {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_port = htons(port);
  CM_ASSERT(::inet_pton(AF_INET, address, &result.sin_addr) == 1);
  return result;
}

}  // namespace

Party::Party(std::unique_ptr<Station> station)
    : station_(std::move(station)),
      channel_(cm::EventChannel::create(station_->transport()).value()) {}

Party::~Party() {
  drop();
  request_.reset();
  listener_.reset();
  channel_.reset();
}

void Party::listen(std::uint16_t port, const char* address) {
  listener_ = cm::Id::create(*channel_, RDMA_PS_TCP, nullptr).value();
  const sockaddr_in local = to_sockaddr(address, port);
  listener_->bind(reinterpret_cast<const sockaddr*>(&local)).value();
  listener_->listen(0).value();
}

bool Party::start_connecting(std::uint16_t port, const char* address, rdma_port_space space,
                             const char* source) {
  id_ = cm::Id::create(*channel_, space, nullptr).value();
  const sockaddr_in remote = to_sockaddr(address, port);
  constexpr auto kTimeout = std::chrono::seconds(2);
  sockaddr_in local{};
  if (source != nullptr) local = to_sockaddr(source, 0);
  if (!id_->resolve_addr(source != nullptr ? reinterpret_cast<const sockaddr*>(&local) : nullptr,
                         reinterpret_cast<const sockaddr*>(&remote), kTimeout))
    return false;
  if (!expect(RDMA_CM_EVENT_ADDR_RESOLVED) || !id_->resolve_route(kTimeout)) return false;
  if (!expect(RDMA_CM_EVENT_ROUTE_RESOLVED)) return false;
  if (space == RDMA_PS_TCP && !make_qp()) return false;
  return id_->connect(nullptr).has_value();
}

bool Party::connect(std::uint16_t port, const char* address) {
  return start_connecting(port, address) && expect(RDMA_CM_EVENT_ESTABLISHED);
}

bool Party::take_request() {
  return next_event() == RDMA_CM_EVENT_CONNECT_REQUEST;
}

bool Party::answer() {
  if (!request_ && !take_request()) return false;
  id_ = std::move(request_);
  return make_qp() && id_->accept(nullptr);
}

bool Party::accept() {
  return answer() && expect(RDMA_CM_EVENT_ESTABLISHED);
}

int Party::next_event() {
  pollfd entry{channel_->fd(), POLLIN, 0};
  if (::poll(&entry, 1, kPatience) != 1) return -1;
  cm::Result<cm::Event> event = channel_->get();
  if (!event) return -1;
  const int type = event->type();
  status_ = event->status();
  if (auto request = event->take_request()) request_ = std::move(request);
  return type;
}

bool Party::expect(rdma_cm_event_type type) {
  return next_event() == static_cast<int>(type);
}

bool Party::make_qp() {
  ibv_qp_init_attr attr{};
  attr.qp_type = IBV_QPT_RC;
  attr.cap = {.max_send_wr = 64,
              .max_recv_wr = 64,
              .max_send_sge = 1,
              .max_recv_sge = 1,
              .max_inline_data = 0};
  attr.sq_sig_all = 1;
  // One queue for both directions: what completes is taken in one place.
  verbs::Provider& provider = verbs::provider_of(id_->raw()->verbs);
  const auto cq = provider.create_cq(id_->raw()->verbs, 256, nullptr, nullptr, 0);
  if (!cq) return false;
  attr.send_cq = attr.recv_cq = *cq;
  if (!id_->create_qp(nullptr, &attr)) return false;
  const auto mr = provider.reg_mr(id_->qp()->pd, buffer.data(), buffer.size(),
                                  reinterpret_cast<std::uintptr_t>(buffer.data()), kAccess);
  if (!mr) return false;
  mr_ = *mr;
  return true;
}

void Party::drop() {
  if (!id_) return;
  if (id_->qp() != nullptr) {
    verbs::Provider& provider = verbs::provider_of(id_->raw()->verbs);
    ibv_cq* const cq = id_->qp()->send_cq;
    (void)id_->disconnect();
    id_->destroy_qp().value();
    provider.destroy_cq(cq).value();
    provider.dereg_mr(std::exchange(mr_, nullptr)).value();
  }
  id_.reset();
}

void Party::post_recv(std::uint32_t length) {
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(buffer.data()), length, mr_->lkey};
  ibv_recv_wr request{};
  request.sg_list = &sge;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  CM_ASSERT(ibv_post_recv(id_->qp(), &request, &bad) == 0);
}

void Party::post_send(std::uint32_t length) {
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(buffer.data()), length, mr_->lkey};
  ibv_send_wr request{};
  request.sg_list = &sge;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  ibv_send_wr* bad = nullptr;
  CM_ASSERT(ibv_post_send(id_->qp(), &request, &bad) == 0);
}

void Party::post_rdma(ibv_wr_opcode opcode, std::uint64_t address, std::uint32_t rkey,
                      std::uint32_t length) {
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(buffer.data()), length, mr_->lkey};
  ibv_send_wr request{};
  request.sg_list = &sge;
  request.num_sge = 1;
  request.opcode = opcode;
  request.wr.rdma.remote_addr = address;
  request.wr.rdma.rkey = rkey;
  ibv_send_wr* bad = nullptr;
  CM_ASSERT(ibv_post_send(id_->qp(), &request, &bad) == 0);
}

int Party::next_completion() {
  ibv_wc completion{};
  ibv_cq* const cq = id_->qp()->send_cq;
  if (!eventually([&] { return ibv_poll_cq(cq, 1, &completion) == 1; })) return -1;
  return completion.status;
}

}  // namespace anyrdma::transport::station::testing
