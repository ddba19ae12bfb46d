#include "cm/rsocket/datagram_port.h"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace anyrdma::rsocket {
namespace {

constexpr std::uint32_t kReceives = 128;
constexpr std::uint32_t kSends = 64;
constexpr std::size_t kGrh = sizeof(ibv_grh);  // in front of each message in memory
constexpr std::size_t kLargestMtu = 4096;
constexpr std::size_t kReceiveSlot = 64 + kLargestMtu;
constexpr std::uint64_t kIsReceive = std::uint64_t{1} << 63;
constexpr int kMostPolled = 16;
constexpr int kTimeout = 2000;  // milliseconds

std::size_t bytes_of(ibv_mtu mtu) {
  return std::size_t{128} << static_cast<unsigned>(mtu);
}

}  // namespace

verbs::Result<std::unique_ptr<DatagramPort>> DatagramPort::create(const Name& local) {
  std::unique_ptr<DatagramPort> port(new DatagramPort(local));
  if (const auto opened = port->open(); !opened) return opened.error();
  if (const auto made = port->make_queues(); !made) return made.error();
  return port;
}

DatagramPort::~DatagramPort() {
  if (id_ != nullptr && id_->qp != nullptr) rdma_destroy_qp(id_);
  if (cq_ != nullptr) {
    (void)take_notifications();
    (void)ibv_destroy_cq(cq_);
  }
  if (channel_ != nullptr) (void)ibv_destroy_comp_channel(channel_);
  if (region_ != nullptr) (void)ibv_dereg_mr(region_);
  if (id_ != nullptr) (void)rdma_destroy_id(id_);
}

verbs::Result<void> DatagramPort::open() {
  if (rdma_create_id(nullptr, &id_, nullptr, RDMA_PS_UDP) != 0) return verbs::errno_code(errno);
  Name any_port = local_;
  if (local_.family() == AF_INET6) {
    reinterpret_cast<sockaddr_in6&>(any_port.storage).sin6_port = 0;
  } else {
    reinterpret_cast<sockaddr_in&>(any_port.storage).sin_port = 0;
  }
  if (rdma_bind_addr(id_, any_port.raw()) != 0) return verbs::errno_code(errno);
  if (id_->verbs == nullptr) return verbs::errno_code(ENODEV);
  ibv_port_attr port{};
  if (ibv_query_port(id_->verbs, id_->port_num, &port) != 0) return verbs::errno_code(ENODEV);
  largest_message_ = bytes_of(port.active_mtu);
  return {};
}

verbs::Result<void> DatagramPort::make_queues() {
  channel_ = ibv_create_comp_channel(id_->verbs);
  if (channel_ == nullptr) return verbs::errno_code(errno);
  if (::fcntl(channel_->fd, F_SETFL, O_NONBLOCK) != 0) return verbs::errno_code(errno);
  cq_ = ibv_create_cq(id_->verbs, kReceives + kSends, nullptr, channel_, 0);
  if (cq_ == nullptr) return verbs::errno_code(errno);
  ibv_qp_init_attr attr{};
  attr.qp_type = IBV_QPT_UD;
  attr.send_cq = attr.recv_cq = cq_;
  attr.sq_sig_all = 1;
  attr.cap = {.max_send_wr = kSends,
              .max_recv_wr = kReceives,
              .max_send_sge = 1,
              .max_recv_sge = 1,
              .max_inline_data = 0};
  if (rdma_create_qp(id_, nullptr, &attr) != 0) return verbs::errno_code(errno);
  auto memory = Pages::map(kReceives * kReceiveSlot + kSends * kLargestMtu);
  if (!memory) return memory.error();
  memory_ = std::make_unique<Pages>(std::move(*memory));
  region_ =
      ibv_reg_mr(id_->pd, memory_->bytes().data(), memory_->bytes().size(), IBV_ACCESS_LOCAL_WRITE);
  if (region_ == nullptr) return verbs::errno_code(errno);
  for (std::uint64_t slot = 0; slot < kReceives; ++slot) {
    if (!post_receive(slot)) return verbs::errno_code(ENOMEM);
  }
  free_sends_ = kSends;
  return {};
}

std::span<std::byte> DatagramPort::receive_slot(std::uint64_t slot) const {
  return memory_->bytes().subspan(slot * kReceiveSlot, kReceiveSlot);
}

bool DatagramPort::post_receive(std::uint64_t slot) {
  ibv_sge memory{.addr = reinterpret_cast<std::uintptr_t>(receive_slot(slot).data()),
                 .length = kGrh + kLargestMtu,
                 .lkey = region_->lkey};
  ibv_recv_wr request{};
  request.wr_id = kIsReceive | slot;
  request.sg_list = &memory;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  return ibv_post_recv(id_->qp, &request, &bad) == 0;
}

verbs::Result<ibv_ah*> DatagramPort::resolve(const Name& peer) {
  rdma_cm_id* way = nullptr;
  if (rdma_create_id(nullptr, &way, nullptr, RDMA_PS_UDP) != 0) return verbs::errno_code(errno);
  Name from = local_;
  Name to = peer;
  if (from.family() == AF_INET6) {
    reinterpret_cast<sockaddr_in6&>(from.storage).sin6_port = 0;
  } else {
    reinterpret_cast<sockaddr_in&>(from.storage).sin_port = 0;
  }
  verbs::Result<ibv_ah*> handle = verbs::errno_code(EHOSTUNREACH);
  if (rdma_resolve_addr(way, from.raw(), to.raw(), kTimeout) != 0 ||
      rdma_resolve_route(way, kTimeout) != 0 || way->route.num_paths < 1) {
    if (errno != 0) handle = verbs::errno_code(errno);
  } else {
    const ibv_sa_path_rec& path = way->route.path_rec[0];
    ibv_ah_attr attr{};
    attr.dlid = be16toh(path.dlid);
    attr.sl = path.sl;
    attr.static_rate = path.rate;
    attr.port_num = id_->port_num;
    attr.is_global = 1;
    attr.grh.dgid = path.dgid;
    attr.grh.flow_label = be32toh(path.flow_label);
    attr.grh.hop_limit = path.hop_limit;
    attr.grh.traffic_class = path.traffic_class;
    for (int index = 0;; ++index) {
      ibv_gid gid{};
      if (ibv_query_gid(id_->verbs, id_->port_num, index, &gid) != 0) break;
      if (std::memcmp(&gid, &path.sgid, sizeof gid) != 0) continue;
      attr.grh.sgid_index = static_cast<std::uint8_t>(index);
      break;
    }
    ibv_ah* const made = ibv_create_ah(id_->pd, &attr);
    handle = made != nullptr ? verbs::Result<ibv_ah*>(made) : verbs::errno_code(errno);
  }
  (void)rdma_destroy_id(way);
  return handle;
}

bool DatagramPort::all_sent() const {
  return free_sends_ == kSends;
}

verbs::Result<void> DatagramPort::send(const Route& route, std::span<const std::byte> header,
                                       std::span<const std::byte> data) {
  const std::size_t size = header.size() + data.size();
  if (size > largest_message_ || size > kLargestMtu) return verbs::errno_code(EMSGSIZE);
  // Sends complete in order, so the oldest slot is free.
  const std::size_t slot = next_send_++ % kSends;
  std::byte* const copy =
      memory_->bytes().subspan(kReceives * kReceiveSlot + slot * kLargestMtu).data();
  std::memcpy(copy, header.data(), header.size());
  if (!data.empty()) std::memcpy(copy + header.size(), data.data(), data.size());
  ibv_sge memory{.addr = reinterpret_cast<std::uintptr_t>(copy),
                 .length = static_cast<std::uint32_t>(size),
                 .lkey = region_->lkey};
  ibv_send_wr request{};
  request.sg_list = &memory;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.wr.ud.ah = route.handle;
  request.wr.ud.remote_qpn = route.queue_pair;
  request.wr.ud.remote_qkey = RDMA_UDP_QKEY;
  ibv_send_wr* bad = nullptr;
  if (ibv_post_send(id_->qp, &request, &bad) != 0) return verbs::errno_code(EIO);
  --free_sends_;
  return {};
}

bool DatagramPort::process(const std::function<void(std::span<const std::byte>)>& sink) {
  bool any = false;
  std::array<ibv_wc, kMostPolled> completions;
  for (;;) {
    const int count = ibv_poll_cq(cq_, kMostPolled, completions.data());
    if (count <= 0) return any;
    any = true;
    for (int i = 0; i < count; ++i) {
      const ibv_wc& completion = completions[static_cast<std::size_t>(i)];
      if ((completion.wr_id & kIsReceive) == 0) {
        ++free_sends_;
        continue;
      }
      const std::uint64_t slot = completion.wr_id & ~kIsReceive;
      if (completion.status != IBV_WC_SUCCESS) continue;
      if (completion.byte_len >= kGrh) {
        sink(receive_slot(slot).subspan(kGrh, completion.byte_len - kGrh));
      }
      (void)post_receive(slot);
    }
  }
}

bool DatagramPort::request_notification() {
  if (armed_) return false;
  armed_ = ibv_req_notify_cq(cq_, 0) == 0;
  return true;
}

bool DatagramPort::take_notifications() {
  if (!armed_) return false;
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  if (ibv_get_cq_event(channel_, &cq, &context) != 0) return false;
  ibv_ack_cq_events(cq_, 1);
  armed_ = false;
  return true;
}

}  // namespace anyrdma::rsocket
