#include "cm/rsocket/datagram.h"

#include <fcntl.h>
#include <rdma/rsocket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace anyrdma::rsocket {
namespace {

constexpr std::size_t kMostArrived = 1024;  // datagrams; then new ones are lost, as in UDP
// A receiver of rdma-core has that much memory for a datagram in UDP, with its header.
constexpr std::size_t kLargestInUdp = 2048;

/// Address and port as bytes.
std::string key_of(const Name& name) {
  if (name.family() == AF_INET6) {
    const auto& address = reinterpret_cast<const sockaddr_in6&>(name.storage);
    std::string key(reinterpret_cast<const char*>(&address.sin6_addr), sizeof address.sin6_addr);
    return key.append(reinterpret_cast<const char*>(&address.sin6_port), sizeof(in_port_t));
  }
  const auto& address = reinterpret_cast<const sockaddr_in&>(name.storage);
  std::string key(reinterpret_cast<const char*>(&address.sin_addr), sizeof address.sin_addr);
  return key.append(reinterpret_cast<const char*>(&address.sin_port), sizeof(in_port_t));
}

bool same_address(const Name& a, const Name& b) {
  return key_of(a).compare(0, std::string::npos, key_of(b)) == 0;
}

Name without_port(Name name) {
  if (name.family() == AF_INET6) {
    reinterpret_cast<sockaddr_in6&>(name.storage).sin6_port = 0;
  } else {
    reinterpret_cast<sockaddr_in&>(name.storage).sin_port = 0;
  }
  return name;
}

bool is_any(const Name& name) {
  if (name.family() == AF_INET6) {
    return IN6_IS_ADDR_UNSPECIFIED(&reinterpret_cast<const sockaddr_in6&>(name.storage).sin6_addr);
  }
  return reinterpret_cast<const sockaddr_in&>(name.storage).sin_addr.s_addr == INADDR_ANY;
}

Result<Name> name_of_socket(int socket) {
  Name name;
  name.length = sizeof name.storage;
  if (::getsockname(socket, name.raw(), &name.length) != 0) return errno_code(errno);
  return name;
}

/// The local address from which the kernel sends to `peer`.
Result<Name> address_towards(const Name& peer) {
  const int probe = ::socket(peer.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return errno_code(errno);
  Result<Name> name = errno_code(ENETUNREACH);
  if (::connect(probe, peer.raw(), peer.length) == 0) {
    name = name_of_socket(probe);
  } else {
    name = errno_code(errno);
  }
  ::close(probe);
  return name;
}

std::vector<std::byte> gathered(std::span<const iovec> ranges) {
  std::vector<std::byte> all;
  for (const iovec& each : ranges) {
    const auto* const bytes = static_cast<const std::byte*>(each.iov_base);
    all.insert(all.end(), bytes, bytes + each.iov_len);
  }
  return all;
}

std::size_t scatter(std::span<const std::byte> data, std::span<const iovec> ranges) {
  std::size_t done = 0;
  for (const iovec& each : ranges) {
    const std::size_t length = std::min(each.iov_len, data.size() - done);
    if (length != 0) std::memcpy(each.iov_base, data.data() + done, length);
    done += length;
  }
  return done;
}

}  // namespace

Result<std::shared_ptr<Datagram>> Datagram::create(int family) {
  rdma_event_channel* const channel = rdma_create_event_channel();
  if (channel == nullptr) return errno_code(errno);
  const bool has_descriptors = channel->fd >= 0;
  rdma_destroy_event_channel(channel);
  if (!has_descriptors) return errno_code(ENOSYS);
  const int udp = ::socket(family, SOCK_DGRAM | SOCK_NONBLOCK, 0);
  if (udp < 0) return errno_code(errno);
  return std::shared_ptr<Datagram>(new Datagram(family, udp));
}

Datagram::~Datagram() {
  for (auto& [key, peer] : peers_) {
    if (peer.route.handle != nullptr) (void)ibv_destroy_ah(peer.route.handle);
  }
  ports_.clear();
  ::close(udp_);
}

Result<void> Datagram::bind(const sockaddr* address, socklen_t length) {
  const Lock lock(mutex_);
  if (address->sa_family != family_) return errno_code(EAFNOSUPPORT);
  if (::bind(udp_, address, length) != 0) return errno_code(errno);
  return {};
}

Result<void> Datagram::connect(const sockaddr* address, socklen_t length) {
  const Lock lock(mutex_);
  if (address->sa_family == AF_UNSPEC) {
    connected_.reset();
    return {};
  }
  if (address->sa_family != family_) return errno_code(EAFNOSUPPORT);
  if (length < length_of(family_)) return errno_code(EINVAL);
  const auto peer = peer_of(name_of(*address));
  if (!peer) return peer.error();
  connected_ = (*peer)->name;
  return {};
}

Result<void> Datagram::shutdown(int how) {
  if (how != SHUT_RD && how != SHUT_WR && how != SHUT_RDWR) return errno_code(EINVAL);
  const Lock lock(mutex_);
  if (!connected_) return errno_code(ENOTCONN);
  return {};
}

void Datagram::close() {
  Lock lock(mutex_);
  const auto all_sent = [this] {
    return std::all_of(ports_.begin(), ports_.end(),
                       [](const auto& each) { return each->all_sent(); });
  };
  while (!all_sent()) {
    const auto waited = wait(lock, true, std::nullopt, all_sent);
    if (!waited && waited.error() != errno_code(EINTR)) break;
  }
  closed_ = true;
  wake();
}

// --- peers ---------------------------------------------------------------------------------------

Result<DatagramPort*> Datagram::port_towards(const Name& peer) {
  auto local = name_of_socket(udp_);
  if (!local) return local.error();
  if (is_any(*local)) local = address_towards(peer);
  if (!local) return local.error();
  const Name address = without_port(*local);
  for (const auto& each : ports_) {
    if (same_address(each->local(), address)) return each.get();
  }
  auto port = DatagramPort::create(address);
  if (!port) return port.error();
  ports_.push_back(std::move(*port));
  wake();  // threads that sleep must sleep on its descriptor, too
  return ports_.back().get();
}

Result<Datagram::Peer*> Datagram::peer_of(const Name& name) {
  const std::string key = key_of(name);
  const auto known = peers_.find(key);
  if (known != peers_.end()) return &known->second;
  const auto port = port_towards(name);
  if (!port) return port.error();
  return &peers_.emplace(key, Peer{.name = name, .port = *port, .route = {}}).first->second;
}

// A peer that has restarted has another queue pair.
void Datagram::learn(Peer& peer, std::uint32_t queue_pair) {
  if (peer.route.handle == nullptr) {
    const auto handle = peer.port->resolve(peer.name);
    if (!handle) return;  // datagrams go on in UDP
    peer.route.handle = *handle;
  }
  peer.route.queue_pair = queue_pair;
}

// --- sending -------------------------------------------------------------------------------------

bool Datagram::can_send() const {
  return std::all_of(ports_.begin(), ports_.end(),
                     [](const auto& each) { return each->can_send(); });
}

Result<void> Datagram::send_in_udp(const Peer& peer, UdpHeader::Operation operation,
                                   std::span<const std::byte> data) {
  auto packet = put_udp_header(
      {.operation = operation, .queue_pair = peer.port->queue_pair(), .local = peer.port->local()});
  if (packet.size() + data.size() > kLargestInUdp) return errno_code(EMSGSIZE);
  packet.insert(packet.end(), data.begin(), data.end());
  if (::sendto(udp_, packet.data(), packet.size(), 0, peer.name.raw(), peer.name.length) < 0) {
    return errno_code(errno);
  }
  return {};
}

Result<std::size_t> Datagram::send(std::span<const iovec> data, int flags, const Name* to) {
  Lock lock(mutex_);
  if (to == nullptr && !connected_) return errno_code(EDESTADDRREQ);
  if (to != nullptr && (to->family() != family_ || to->length < length_of(family_))) {
    return errno_code(to->family() != family_ ? EAFNOSUPPORT : EINVAL);
  }
  (void)process();  // the peer may have answered
  const auto peer = peer_of(to != nullptr ? *to : *connected_);
  if (!peer) return peer.error();
  const auto all = gathered(data);
  if ((*peer)->route.handle == nullptr) {
    const auto sent = send_in_udp(**peer, UdpHeader::Operation::kData, all);
    if (!sent) return sent.error();
    return all.size();
  }
  DatagramPort& port = *(*peer)->port;
  if (!port.can_send()) {
    const auto waited =
        wait(lock, may_wait(flags), std::nullopt, [&port] { return port.can_send(); });
    if (!waited) return waited.error();
  }
  Name source = port.local();
  const auto own = name_of_socket(udp_);
  if (!own) return own.error();
  if (family_ == AF_INET6) {
    reinterpret_cast<sockaddr_in6&>(source.storage).sin6_port =
        reinterpret_cast<const sockaddr_in6&>(own->storage).sin6_port;
  } else {
    reinterpret_cast<sockaddr_in&>(source.storage).sin_port =
        reinterpret_cast<const sockaddr_in&>(own->storage).sin_port;
  }
  const auto sent = port.send((*peer)->route, put_source(source), all);
  if (!sent) return sent.error();
  return all.size();
}

// --- receiving -----------------------------------------------------------------------------------

void Datagram::keep(const Name& from, std::span<const std::byte> data) {
  if (connected_ && !same_address(*connected_, from)) return;
  if (arrived_.size() < kMostArrived) arrived_.push_back({from, {data.begin(), data.end()}});
}

void Datagram::on_udp(const Name& from, std::span<const std::byte> packet) {
  const auto headed = get_udp_header(packet, family_);
  if (!headed) return;
  const auto peer = peer_of(from);
  if (!peer) return;
  if (headed->header.operation == UdpHeader::Operation::kData) {
    (void)send_in_udp(**peer, UdpHeader::Operation::kControl, {});
  }
  learn(**peer, headed->header.queue_pair);
  if (headed->header.operation == UdpHeader::Operation::kData) keep(from, headed->data);
}

bool Datagram::process_udp() {
  bool any = false;
  std::array<std::byte, kLargestInUdp> packet;
  for (;;) {
    Name from;
    from.length = sizeof from.storage;
    const ssize_t length =
        ::recvfrom(udp_, packet.data(), packet.size(), MSG_DONTWAIT, from.raw(), &from.length);
    if (length < 0) return any;
    any = true;
    on_udp(from, std::span(packet).first(static_cast<std::size_t>(length)));
  }
}

bool Datagram::process() {
  bool any = process_udp();
  for (const auto& port : ports_) {
    any |= port->process([this](std::span<const std::byte> message) {
      const auto headed = get_source(message);
      if (headed && headed->header.family() == family_) keep(headed->header, headed->data);
    });
  }
  return any;
}

Result<std::size_t> Datagram::receive(std::span<const iovec> into, int flags, Name* from) {
  Lock lock(mutex_);
  const auto waited =
      wait(lock, may_wait(flags), std::nullopt, [this] { return !arrived_.empty(); });
  if (!waited) return waited.error();
  const Arrived& first = arrived_.front();
  const std::size_t length = scatter(first.data, into);
  if (from != nullptr) *from = first.from;
  if ((flags & MSG_PEEK) == 0) arrived_.pop_front();
  return length;
}

// --- waiting -------------------------------------------------------------------------------------

short Datagram::state(short events) const {
  int found = 0;
  if (!arrived_.empty()) found |= events & (POLLIN | POLLRDNORM);
  if (can_send()) found |= events & (POLLOUT | POLLWRNORM);
  return static_cast<short>(found);
}

void Datagram::descriptors(std::vector<pollfd>& all) const {
  all.push_back({.fd = udp_, .events = POLLIN, .revents = 0});
  for (const auto& each : ports_) {
    all.push_back({.fd = each->fd(), .events = POLLIN, .revents = 0});
  }
}

bool Datagram::request_notifications() {
  bool requested = false;
  for (const auto& each : ports_) requested |= each->request_notification();
  return requested && process();
}

bool Datagram::take_notifications() {
  bool any = false;
  for (const auto& each : ports_) any |= each->take_notifications();
  return any;
}

// --- names and options ---------------------------------------------------------------------------

Result<Name> Datagram::own_name() {
  const Lock lock(mutex_);
  return name_of_socket(udp_);
}

Result<Name> Datagram::peer_name() {
  const Lock lock(mutex_);
  if (!connected_) return errno_code(ENOTCONN);
  return *connected_;
}

Result<void> Datagram::set_option(int level, int name, std::span<const std::byte> value) {
  const Lock lock(mutex_);
  if (level == SOL_RDMA) return errno_code(ENOPROTOOPT);
  const auto length = static_cast<socklen_t>(value.size());
  if (::setsockopt(udp_, level, name, value.data(), length) != 0) return errno_code(errno);
  return {};
}

Result<std::size_t> Datagram::option(int level, int name, std::span<std::byte> value) {
  const Lock lock(mutex_);
  if (level == SOL_RDMA) return errno_code(ENOPROTOOPT);
  auto length = static_cast<socklen_t>(value.size());
  if (::getsockopt(udp_, level, name, value.data(), &length) != 0) return errno_code(errno);
  return static_cast<std::size_t>(length);
}

}  // namespace anyrdma::rsocket
