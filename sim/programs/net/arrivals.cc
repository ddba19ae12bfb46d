// What comes from other hosts for sockets. A datagram is put into its receiver's socket by one of
// ours, whose name tells from whom it is.
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "recording/packets/ip_packet.h"
#include "sim/host.h"
#include "sim/programs/net/sockets.h"
#include "sim/programs/process/supervisor.h"
#include "sim/world.h"

namespace anyrdma::sim::programs {
namespace {

using verbs::soft::Packet;

/// Whose empty datagrams are no datagrams: they wake who waits for one, to hear of a refusal.
constexpr const char* kRefusal = "refusal";
/// A receiver's buffer, and what a datagram takes of it besides its bytes (rmem_default).
constexpr std::size_t kBufferMax = 212992;
constexpr std::size_t kOverhead = 768;

}  // namespace

void Sockets::on_ip(Host& at, const Packet& packet) {
  if (const auto fragment = recording::fragment_of(packet)) {
    const auto whole = parts_.add(supervisor_.world().now(), packet, *fragment);
    const bool is_ours =
        whole && fragment->protocol == recording::kIpUdp &&
        recording::checksum_is_right(packet.source, packet.destination, fragment->protocol, *whole);
    if (is_ours) on_datagram(at, packet, *whole);
  } else if (packet.ip_protocol == recording::kIpTcp) {
    if (const auto arrival = tcp_arrival(packet)) streams_.on_arrival(at, *arrival);
  } else if (packet.ip_protocol == recording::kIpUdp) {
    on_datagram(at, packet, packet.payload());
  } else {
    on_refusal(at, packet);
  }
}

void Sockets::on_datagram(Host& at, const Packet& packet, std::span<const std::uint8_t> payload) {
  const auto arrival = udp_arrival(packet.source, packet.destination, payload);
  if (!arrival) return;
  if (is_for_all(arrival->local, at)) {
    deliver_to_all(at, arrival->local, arrival->peer, arrival->data);
    return supervisor_.look();
  }
  if (deliver(at, arrival->local, arrival->peer, arrival->data)) return supervisor_.look();
  Packet lost;
  lost.source = packet.source;
  lost.destination = packet.destination;
  lost.ip_protocol = recording::kIpUdp;
  lost.size = static_cast<std::uint16_t>(std::min(payload.size(), lost.storage.size()));
  std::copy_n(payload.begin(), lost.size, lost.storage.begin());
  sender_.refuse(at, lost);
}

/// Who is connected hears of it.
void Sockets::on_refusal(Host& at, const Packet& packet) {
  const auto ports = recording::read_refusal(packet);
  if (!ports) return;
  const Address from = Address::from_gid(packet.source);
  const auto is_connected_there = [&](const std::string& name) {
    const Address& peer = sockets_.at(inodes_.at(name)).peer;
    return peer.family != AF_UNSPEC && peer.ip == from.ip && peer.port == ports->destination;
  };
  const auto names = names_at(at, ports->source, SOCK_DGRAM);
  const auto name = std::ranges::find_if(names, is_connected_there);
  if (name == names.end()) return;
  Socket& socket = sockets_.at(inodes_.at(*name));
  socket.error = ECONNREFUSED;
  Descriptor& waker = senders_[kRefusal].socket;
  if (!waker) {
    waker = Descriptor(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    (void)files_.bind(waker, kRefusal, SOCK_DGRAM);
  }
  (void)files_.send(waker, *name, {});
  supervisor_.look();
}

// --- delivery -----------------------------------------------------------------------------------

const Descriptor& Sockets::sender_for(const Address& source) {
  const std::string name = "from." + source.to_string();
  const auto [place, is_new] = senders_.try_emplace(name);
  if (is_new) {
    place->second = {Descriptor(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)), source};
    (void)files_.bind(place->second.socket, name, SOCK_DGRAM);
  }
  return place->second.socket;
}

const Sockets::Address* Sockets::sender_of(const sockaddr_storage& name, socklen_t size) const {
  const auto file = files_.name_of(name, size);
  const auto found = file ? senders_.find(*file) : senders_.end();
  return found == senders_.end() ? nullptr : &found->second.address;
}

bool Sockets::deliver(const Host& at, const Address& target, const Address& source,
                      std::span<const std::byte> bytes) {
  const std::string name = hearer_at(at, target, source, SOCK_DGRAM);
  return !name.empty() && deliver_into(name, source, bytes);
}

bool Sockets::deliver_into(const std::string& name, const Address& source,
                           std::span<const std::byte> bytes) {
  const Descriptor& sender = sender_for(source);
  const auto waiting = kept_.find(name);
  const int error = waiting != kept_.end() ? EAGAIN : files_.send(sender, name, bytes);
  if (error != EAGAIN) return error != ECONNREFUSED;
  std::deque<Kept>& queue = kept_[name];
  std::size_t used = bytes.size() + kOverhead;
  for (const Kept& each : queue) used += each.bytes.size() + kOverhead;
  if (used <= kBufferMax) queue.push_back({&sender, {bytes.begin(), bytes.end()}});
  return true;
}

/// The kernel takes few datagrams that nobody has read yet.
void Sockets::deliver_kept() {
  for (auto each = kept_.begin(); each != kept_.end();) {
    std::deque<Kept>& queue = each->second;
    while (!queue.empty()) {
      const int error = files_.send(*queue.front().sender, each->first, queue.front().bytes);
      if (error == EAGAIN) break;
      if (error == ECONNREFUSED) {
        queue.clear();  // it has been closed
      } else {
        queue.pop_front();
      }
    }
    each = queue.empty() ? kept_.erase(each) : std::next(each);
  }
}

// --- refusals -----------------------------------------------------------------------------------

bool Sockets::is_refusal(const sockaddr_storage& name, socklen_t size) const {
  return files_.name_of(name, size) == kRefusal;
}

/// Their news stands in the socket.
void Sockets::drop_refusals(const Descriptor& descriptor) const {
  for (;;) {
    sockaddr_storage from{};
    socklen_t size = sizeof from;
    if (::recvfrom(descriptor.get(), nullptr, 0, MSG_DONTWAIT | MSG_PEEK,
                   reinterpret_cast<sockaddr*>(&from), &size) < 0 ||
        !is_refusal(from, size))
      return;
    (void)::recv(descriptor.get(), nullptr, 0, MSG_DONTWAIT);
  }
}

}  // namespace anyrdma::sim::programs
