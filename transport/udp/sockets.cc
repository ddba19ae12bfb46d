#include "transport/udp/sockets.h"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "transport/realtime/progress_thread.h"
#include "transport/udp/network_namespace.h"
#include "verbs/assert.h"
#include "verbs/soft/frame.h"
#include "verbs/soft/icrc.h"
#include "verbs/wire/gid.h"

namespace anyrdma::transport::udp {
namespace {

using realtime::Descriptor;
using soft::Address;
using verbs::soft::Packet;
using verbs::soft::PacketPtr;
using wire::same;

constexpr std::size_t kBatch = 32;
constexpr int kBatchesAtOnce = 8;  // per socket and poll: others want their turn
constexpr int kEventsAtOnce = 32;
constexpr int kSocketBytes = 4 << 20;  // as much as the system allows
constexpr int kHopLimit = 64;
constexpr std::uint16_t kDiscardPort = 9;  // RFC 863
// What Linux sends from a socket that is not connected and forbids fragments; the ICRC covers it.
constexpr std::uint16_t kNoIdentification = 0;
constexpr std::uint16_t kDontFragment = 0x4000;

bool set(const Descriptor& fd, int level, int option, int value) {
  return ::setsockopt(fd.get(), level, option, &value, sizeof value) == 0;
}

/// Root may have more than the system's limit.
void enlarge_buffers(const Descriptor& fd) {
  if (!set(fd, SOL_SOCKET, SO_RCVBUFFORCE, kSocketBytes))
    (void)set(fd, SOL_SOCKET, SO_RCVBUF, kSocketBytes);
  if (!set(fd, SOL_SOCKET, SO_SNDBUFFORCE, kSocketBytes))
    (void)set(fd, SOL_SOCKET, SO_SNDBUF, kSocketBytes);
}

/// Multicast leaves by the interface, and comes back to members on this machine.
bool configure(const Descriptor& fd, sa_family_t family, int interface) {
  enlarge_buffers(fd);
  if (family == AF_INET6) {
    // The peer's checksum may be missing: the ICRC protects the packet (kernel: rxe sends none).
    return set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1) && set(fd, SOL_UDP, UDP_NO_CHECK6_RX, 1) &&
           set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO) &&
           set(fd, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1) && set(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
  }
  ip_mreqn outgoing{};
  outgoing.imr_ifindex = interface;
  return set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO) &&
         set(fd, IPPROTO_IP, IP_RECVTTL, 1) && set(fd, IPPROTO_IP, IP_RECVTOS, 1) &&
         set(fd, IPPROTO_IP, IP_MULTICAST_ALL, 0) &&
         set(fd, IPPROTO_IP, IP_MULTICAST_TTL, kHopLimit) &&
         ::setsockopt(fd.get(), IPPROTO_IP, IP_MULTICAST_IF, &outgoing, sizeof outgoing) == 0;
}

socklen_t length_of(sa_family_t family) {
  return family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
}

verbs::Result<Descriptor> open_bound(Address address, std::uint16_t port, int interface,
                                     bool shared) {
  Descriptor fd(::socket(address.family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd || !configure(fd, address.family, interface)) return verbs::errno_code(errno);
  if (shared && !set(fd, SOL_SOCKET, SO_REUSEADDR, 1)) return verbs::errno_code(errno);
  address.port = port;
  const sockaddr_storage name = address.to_sockaddr();
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), length_of(address.family)) != 0)
    return verbs::errno_code(errno);
  return fd;
}

/// Room for the two control messages that a packet has: hop limit and traffic class.
struct alignas(cmsghdr) Control {
  std::array<std::uint8_t, 2 * CMSG_SPACE(sizeof(int))> bytes;
};

void put_control(msghdr& message, cmsghdr*& at, int level, int type, int value) {
  at->cmsg_level = level;
  at->cmsg_type = type;
  at->cmsg_len = CMSG_LEN(sizeof value);
  std::memcpy(CMSG_DATA(at), &value, sizeof value);
  at = CMSG_NXTHDR(&message, at);
}

void read_control(msghdr& message, Packet& packet) {
  for (cmsghdr* at = CMSG_FIRSTHDR(&message); at != nullptr; at = CMSG_NXTHDR(&message, at)) {
    // The kernel gives IPv4's type of service as one byte, the others as integers.
    const std::uint8_t value = *CMSG_DATA(at);
    if ((at->cmsg_level == IPPROTO_IP && at->cmsg_type == IP_TTL) ||
        (at->cmsg_level == IPPROTO_IPV6 && at->cmsg_type == IPV6_HOPLIMIT))
      packet.hop_limit = value;
    if ((at->cmsg_level == IPPROTO_IP && at->cmsg_type == IP_TOS) ||
        (at->cmsg_level == IPPROTO_IPV6 && at->cmsg_type == IPV6_TCLASS))
      packet.traffic_class = value;
  }
}

}  // namespace

/// Room for one sendmmsg or recvmmsg.
struct UdpSockets::Batch {
  std::array<mmsghdr, kBatch> messages{};
  std::array<iovec, kBatch> pieces{};
  std::array<sockaddr_storage, kBatch> names{};
  std::array<Control, kBatch> controls{};
  std::array<PacketPtr, kBatch> packets{};

  msghdr& set(std::size_t i, std::uint8_t* payload, std::size_t size) {
    pieces[i] = {payload, size};
    messages[i] = {};
    msghdr& message = messages[i].msg_hdr;
    message.msg_iov = &pieces[i];
    message.msg_iovlen = 1;
    message.msg_name = &names[i];
    message.msg_namelen = sizeof names[i];
    message.msg_control = controls[i].bytes.data();
    message.msg_controllen = controls[i].bytes.size();
    return message;
  }

  void set_outgoing(std::size_t i, Packet& packet, std::uint16_t port) {
    msghdr& message = set(i, packet.storage.data(), packet.size);
    Address to = Address::from_gid(packet.destination);
    to.port = port;
    names[i] = to.to_sockaddr();
    message.msg_namelen = length_of(to.family);
    const bool v4 = to.family == AF_INET;
    const int level = v4 ? IPPROTO_IP : IPPROTO_IPV6;
    cmsghdr* at = CMSG_FIRSTHDR(&message);
    put_control(message, at, level, v4 ? IP_TTL : IPV6_HOPLIMIT, packet.hop_limit);
    put_control(message, at, level, v4 ? IP_TOS : IPV6_TCLASS, packet.traffic_class);
  }
};

// --- life ---------------------------------------------------------------------------------------

UdpSockets::UdpSockets(const UdpSocketsConfig& config, verbs::soft::PacketPool& pool,
                       station::Carrier::Receiver& receiver)
    : config_(config), pool_(pool), receiver_(receiver), batch_(std::make_unique<Batch>()) {}

UdpSockets::~UdpSockets() = default;

verbs::Result<std::unique_ptr<UdpSockets>> UdpSockets::create(
    const UdpSocketsConfig& config, verbs::soft::PacketPool& pool,
    station::Carrier::Receiver& receiver) {
  std::unique_ptr<UdpSockets> sockets(new UdpSockets(config, pool, receiver));
  if (verbs::Result<void> opened = sockets->open_all(); !opened) return opened.error();
  return sockets;
}

verbs::Result<void> UdpSockets::open_all() {
  epoll_ = Descriptor(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_) return verbs::errno_code(errno);
  for (const LocalAddress& each : config_.addresses) {
    auto fd = open_bound(each.address, config_.port, each.interface, false);
    if (!fd) return fd.error();
    auto socket = std::make_unique<Socket>();
    socket->fd = std::move(*fd);
    socket->gid = each.address.gid();
    socket->interface = each.interface;
    socket->device = each.device;
    if (verbs::Result<void> watched = watch(socket->fd.get(), socket.get()); !watched)
      return watched;
    locals_.push_back(std::move(socket));
  }
  return {};
}

verbs::Result<void> UdpSockets::watch(int fd, Socket* socket) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = socket;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) return verbs::errno_code(errno);
  return {};
}

void UdpSockets::close() {
  dirty_.clear();
  locals_.clear();
  groups_.clear();
  epoll_.reset();
}

UdpSockets::Socket* UdpSockets::local(const ibv_gid& gid) const {
  const auto found =
      std::ranges::find_if(locals_, [&gid](const auto& each) { return same(each->gid, gid); });
  return found != locals_.end() ? found->get() : nullptr;
}

// --- groups -------------------------------------------------------------------------------------

verbs::Result<Descriptor> UdpSockets::open_group(const ibv_gid& group, int interface) {
  verbs::Result<Descriptor> fd = verbs::errno_code(EINVAL);
  const auto open = [&] {
    fd = open_bound(Address::from_gid(group), config_.port, interface, true);
  };
  if (auto entered = in_network_namespace(config_.network_namespace, open); !entered)
    return entered.error();
  if (!fd) return fd;
  ip_mreqn membership{};
  std::memcpy(&membership.imr_multiaddr, group.raw + 12, sizeof membership.imr_multiaddr);
  membership.imr_ifindex = interface;
  if (::setsockopt(fd->get(), IPPROTO_IP, IP_ADD_MEMBERSHIP, &membership, sizeof membership) != 0)
    return verbs::errno_code(errno);
  return fd;
}

verbs::Result<void> UdpSockets::join(const ibv_gid& from, const ibv_gid& group) {
  const Socket* const socket = local(from);
  if (socket == nullptr) return verbs::errno_code(EADDRNOTAVAIL);
  // The transport joins IPv4 groups only, as Linux does.
  const Address address = Address::from_gid(group);
  if (address.family != AF_INET || !address.is_multicast()) return verbs::errno_code(EINVAL);
  for (const auto& each : groups_) {
    if (!same(each->gid, group) || each->device != socket->device) continue;
    ++each->joins;
    return {};
  }
  auto fd = open_group(group, socket->interface);
  if (!fd) return fd.error();
  auto member = std::make_unique<Socket>();
  member->fd = std::move(*fd);
  member->gid = group;
  member->interface = socket->interface;
  member->device = socket->device;
  member->joins = 1;
  if (verbs::Result<void> watched = watch(member->fd.get(), member.get()); !watched) return watched;
  groups_.push_back(std::move(member));
  return {};
}

void UdpSockets::leave(const ibv_gid& from, const ibv_gid& group) {
  const Socket* const socket = local(from);
  if (socket == nullptr) return;
  std::erase_if(groups_, [&](const auto& each) {
    return same(each->gid, group) && each->device == socket->device && --each->joins == 0;
  });
}

// --- sending ------------------------------------------------------------------------------------

void UdpSockets::send(PacketPtr packet) {
  if (local(packet->destination) != nullptr) {
    receiver_.on_own_packet(std::move(packet));
    return;
  }
  Socket* const socket = local(packet->source);
  if (socket == nullptr || socket->out.size() >= config_.queue_max) {
    ++dropped_;
    return;
  }
  seal(*packet);
  socket->out.push_back(std::move(packet));
  if (!socket->waiting) dirty_.push_back(socket);
  socket->waiting = true;
}

void UdpSockets::seal(Packet& packet) const {
  packet.udp_source_port = config_.port;
  packet.ip_identification = kNoIdentification;
  packet.ip_fragment = kDontFragment;
  roce::seal(packet);
}

void UdpSockets::transmit() {
  for (Socket* socket : dirty_) transmit(*socket);
  dirty_.clear();
}

void UdpSockets::transmit(Socket& socket) {
  while (!socket.out.empty()) {
    const int error = send_batch(socket);
    if (error == EAGAIN) {
      watch_output(socket, true);  // stays out of dirty_ until it is writable
      return;
    }
    if (error == 0) continue;
    // No route, a firewall, a packet too long for the path: the network loses packets, too.
    (void)socket.out.pop_front();
    ++dropped_;
  }
  watch_output(socket, false);
  socket.waiting = false;
}

/// Sends up to a batch and takes what was sent from the queue; an errno if the first one failed.
int UdpSockets::send_batch(Socket& socket) {
  const std::size_t size = std::min(socket.out.size(), kBatch);
  for (std::size_t i = 0; i < size; ++i) batch_->set_outgoing(i, *socket.out[i], config_.port);
  const int count = ::sendmmsg(socket.fd.get(), batch_->messages.data(),
                               static_cast<unsigned>(size), MSG_DONTWAIT);
  if (count < 0) return errno == EINTR ? 0 : errno;
  for (int i = 0; i < count; ++i) (void)socket.out.pop_front();
  return 0;
}

void UdpSockets::provoke(const Address& destination) {
  for (const auto& each : locals_) {
    if (Address::from_gid(each->gid).family != destination.family) continue;
    Address to = destination;
    to.port = kDiscardPort;
    const sockaddr_storage name = to.to_sockaddr();
    (void)::sendto(each->fd.get(), nullptr, 0, MSG_DONTWAIT,
                   reinterpret_cast<const sockaddr*>(&name), length_of(to.family));
    return;
  }
}

void UdpSockets::watch_output(Socket& socket, bool on) {
  if (socket.watches_output == on) return;
  epoll_event event{};
  event.events = on ? EPOLLIN | EPOLLOUT : EPOLLIN;
  event.data.ptr = &socket;
  CM_ASSERT(::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, socket.fd.get(), &event) == 0);
  socket.watches_output = on;
}

std::size_t UdpSockets::queued() const {
  std::size_t sum = 0;
  for (const auto& each : locals_) sum += each->out.size();
  return sum;
}

void UdpSockets::flush(std::chrono::milliseconds limit) {
  const verbs::Instant end = realtime::monotonic_now() + limit;
  transmit();
  while (queued() > 0 && realtime::monotonic_now() < end) {
    pollfd entry{epoll_.get(), POLLIN, 0};
    (void)::poll(&entry, 1, 1);
    (void)poll();
    transmit();
  }
}

// --- receiving ----------------------------------------------------------------------------------

bool UdpSockets::poll() {
  if (!epoll_) return false;
  std::array<epoll_event, kEventsAtOnce> events{};
  const int count = ::epoll_wait(epoll_.get(), events.data(), kEventsAtOnce, 0);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.ptr == nullptr) continue;  // somebody else's
    auto& socket = *static_cast<Socket*>(event.data.ptr);
    if ((event.events & EPOLLOUT) != 0 && socket.watches_output) dirty_.push_back(&socket);
    for (int round = 0; round < kBatchesAtOnce && receive(socket); ++round) continue;
  }
  return count > 0;
}

/// Takes in up to a batch. False: no more for now.
bool UdpSockets::receive(Socket& socket) {
  for (std::size_t i = 0; i < kBatch; ++i) {
    if (!batch_->packets[i]) batch_->packets[i] = pool_.take();
    batch_->set(i, batch_->packets[i]->storage.data(), verbs::soft::kPacketBytesMax);
  }
  const int count =
      ::recvmmsg(socket.fd.get(), batch_->messages.data(), kBatch, MSG_DONTWAIT, nullptr);
  if (count < 0) return errno == EINTR;
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    take_in(socket, at, batch_->messages[at].msg_len);
  }
  return count == kBatch;
}

void UdpSockets::take_in(const Socket& socket, std::size_t index, std::size_t size) {
  msghdr& message = batch_->messages[index].msg_hdr;
  if ((message.msg_flags & MSG_TRUNC) != 0) return;  // longer than any packet can be
  const auto from = Address::from(reinterpret_cast<const sockaddr&>(batch_->names[index]));
  if (!from) return;
  PacketPtr packet = std::move(batch_->packets[index]);
  packet->source = from->gid();
  packet->destination = socket.gid;
  packet->udp_source_port = from->port;
  read_control(message, *packet);
  packet->ip_identification = kNoIdentification;
  packet->ip_fragment = kDontFragment;
  packet->ip_fields_hidden = true;
  packet->icrc_valid = true;
  packet->size = static_cast<std::uint16_t>(size);
  packet->mark = socket.device + 1;
  receiver_.on_packet(std::move(packet));
}

}  // namespace anyrdma::transport::udp
