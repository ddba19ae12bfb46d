#include "sim/scenarios/party.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "sim/findings.h"
#include "transport/event_name.h"
#include "verbs/provider.h"

namespace anyrdma::sim::scenarios {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kPatience = 2s;

/// No more will come of the connection.
bool is_end(rdma_cm_event_type type) {
  switch (type) {  // foreign enum
    case RDMA_CM_EVENT_ADDR_ERROR:
    case RDMA_CM_EVENT_ROUTE_ERROR:
    case RDMA_CM_EVENT_CONNECT_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
    case RDMA_CM_EVENT_REJECTED:
    case RDMA_CM_EVENT_DISCONNECTED:
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
    case RDMA_CM_EVENT_MULTICAST_ERROR:
      return true;
    default:
      return false;
  }
}

/// Word i of message `number`.
std::uint64_t word_of(std::uint64_t number, std::size_t i) {
  return number + i * 0x9e3779b97f4a7c15;
}

const sockaddr* raw(const sockaddr_storage& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

}  // namespace

Party::Party(Host& host) : host_(host) {
  open_channel();
}

// A host without a device gives none, but it may have one later.
void Party::open_channel() {
  auto channel = cm::EventChannel::create(host_.transport());
  if (channel) channel_ = std::move(*channel);
}

std::unique_ptr<cm::Id> Party::make_id(rdma_port_space space) {
  if (channel_ == nullptr) open_channel();
  if (channel_ == nullptr) return nullptr;
  auto id = cm::Id::create(*channel_, space, nullptr);
  return id ? std::move(*id) : nullptr;
}

std::unique_ptr<cm::Id> Party::resolve(const Address& peer, rdma_port_space space) {
  begin();
  auto id = make_id(space);
  if (id == nullptr) return nullptr;
  const sockaddr_storage to = peer.to_sockaddr();
  const auto known = id->resolve_addr(nullptr, raw(to), kPatience);
  if (!wait(known, RDMA_CM_EVENT_ADDR_RESOLVED)) return nullptr;
  if (!wait(id->resolve_route(kPatience), RDMA_CM_EVENT_ROUTE_RESOLVED)) return nullptr;
  return id;
}

std::unique_ptr<cm::Id> Party::listen(rdma_port_space space) {
  const sockaddr_storage any = Address::ipv4(0, kPort).to_sockaddr();
  for (Duration pause = 10ms; pause < 1min; pause *= 2) {
    auto id = make_id(space);
    if (id != nullptr && id->bind(raw(any)) && id->listen(16)) return id;
    if (!host_.sleep(pause)) break;
  }
  return nullptr;
}

void Party::look_at(const cm::Event& event) {
  const rdma_cm_event_type type = event.type();
  sometimes(std::string(transport::short_event_name(type)) + " seen", true);
  if (!is_end(type)) return;
  over_ = true;
  end_ = type;
  end_status_ = event.status();
}

std::optional<cm::Event> Party::next() {
  if (channel_ == nullptr) return std::nullopt;
  auto event = channel_->get();
  if (!event) return std::nullopt;
  look_at(*event);
  return std::move(*event);
}

std::optional<cm::Event> Party::wait(const verbs::Result<void>& called, rdma_cm_event_type wanted) {
  if (!called) return std::nullopt;
  while (!over_) {
    std::optional<cm::Event> event = next();
    if (!event || event->type() == wanted) return event;
  }
  return std::nullopt;
}

bool Party::goes_on() {
  while (!over_) {
    const auto event = channel_->try_get();
    if (!event) return true;
    look_at(*event);
  }
  return false;
}

void Party::hang_up(cm::Id& id) {
  (void)wait(id.disconnect(), RDMA_CM_EVENT_DISCONNECTED);
}

void Party::see_off(cm::Id& id) {
  (void)wait({}, RDMA_CM_EVENT_DISCONNECTED);
  (void)id.disconnect().has_value();
}

// --- messages -----------------------------------------------------------------------------------

bool Mailbox::open(ibv_qp_type type) {
  is_datagram_ = type == IBV_QPT_UD;
  ibv_qp_init_attr attr{};
  attr.qp_type = type;
  attr.sq_sig_all = 1;
  attr.cap = {.max_send_wr = 2,
              .max_recv_wr = 2,
              .max_send_sge = 1,
              .max_recv_sge = 1,
              .max_inline_data = 0};
  if (!id_.create_qp(nullptr, &attr)) return false;
  is_open_ = true;
  ibv_pd* pd = id_.qp()->pd;
  auto out = verbs::MemoryRegion::create(pd, out_.data(), kBytes, 0);
  auto in = verbs::MemoryRegion::create(pd, in_.data(), in_.size(), IBV_ACCESS_LOCAL_WRITE);
  if (!out || !in) return false;
  out_memory_ = std::move(*out);
  in_memory_ = std::move(*in);
  return post_receive();
}

Mailbox::~Mailbox() {
  if (peer_ != nullptr) (void)verbs::provider_of(id_.qp()->context).destroy_ah(peer_).has_value();
  if (is_open_) (void)id_.destroy_qp().has_value();
}

bool Mailbox::address(const rdma_ud_param& peer) {
  rdma_ud_param to = peer;
  auto ah = verbs::provider_of(id_.qp()->context).create_ah(id_.qp()->pd, to.ah_attr);
  if (!ah) return false;
  peer_ = *ah;
  peer_qpn_ = peer.qp_num;
  peer_qkey_ = peer.qkey;
  return true;
}

bool Mailbox::post_receive() {
  ibv_sge piece = in_memory_.piece(0, kHeader + kBytes);
  ibv_recv_wr request{.wr_id = 1, .next = nullptr, .sg_list = &piece, .num_sge = 1};
  ibv_recv_wr* bad = nullptr;
  return ibv_post_recv(id_.qp(), &request, &bad) == 0;
}

// Polls ever more seldom, looking at the connection's events each time.
std::optional<ibv_wc> Mailbox::completion(ibv_cq* cq, Duration patience) {
  Host& host = party_.host();
  const Instant deadline = host.world().now() + patience;
  // A datagram that comes while none is awaited is lost.
  const Duration longest = is_datagram_ ? Duration(1ms) : Duration(1s);
  for (Duration pause = 10us; host.world().now() < deadline; pause = std::min(2 * pause, longest)) {
    ibv_wc completion{};
    const int count = ibv_poll_cq(cq, 1, &completion);
    if (count > 0) return completion;
    if (count < 0 || !party_.goes_on() || !host.sleep(pause)) break;
  }
  return std::nullopt;
}

bool Mailbox::send(std::uint64_t number) {
  for (std::size_t i = 0; i < kWords; ++i) out_[i] = word_of(number, i);
  ibv_sge piece = out_memory_.piece(0, kBytes);
  ibv_send_wr request{};
  request.opcode = IBV_WR_SEND;
  request.sg_list = &piece;
  request.num_sge = 1;
  if (is_datagram_) {
    request.wr.ud = {.ah = peer_, .remote_qpn = peer_qpn_, .remote_qkey = peer_qkey_};
  }
  ibv_send_wr* bad = nullptr;
  if (ibv_post_send(id_.qp(), &request, &bad) != 0) return false;
  const auto sent = completion(id_.qp()->send_cq, 60s);
  return sent && sent->status == IBV_WC_SUCCESS;
}

std::optional<std::uint64_t> Mailbox::receive(Duration patience) {
  const auto received = completion(id_.qp()->recv_cq, patience);
  if (!received || received->status != IBV_WC_SUCCESS) return std::nullopt;
  const std::uint32_t header = is_datagram_ ? kHeader : 0;
  std::array<std::uint64_t, kWords> words{};
  std::memcpy(words.data(), in_.data() + header, kBytes);
  bool intact = received->byte_len == header + kBytes;
  for (std::size_t i = 0; i < kWords; ++i) intact = intact && words[i] == word_of(words[0], i);
  if (!intact) complain(party_.host().name() + " received a message that no host sent");
  if (!post_receive()) return std::nullopt;
  return words[0];
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

}  // namespace anyrdma::sim::scenarios
