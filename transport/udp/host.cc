#include "transport/udp/host.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "transport/realtime/progress_thread.h"
#include "verbs/assert.h"

namespace anyrdma::transport::udp {

using soft::Address;

verbs::Result<std::unique_ptr<UdpHost>> UdpHost::create(const UdpSocketsConfig& config,
                                                        verbs::soft::PacketPool& pool,
                                                        Receiver& receiver) {
  auto routes = RouteSocket::open();
  if (!routes) return routes.error();
  auto sockets = UdpSockets::create(config, pool, receiver);
  if (!sockets) return sockets.error();
  std::unique_ptr<UdpHost> host(new UdpHost(config.addresses, std::move(*routes)));
  host->sockets_ = std::move(*sockets);
  if (auto watched = host->sockets_->watch(host->routes_.news()); !watched) return watched.error();
  return host;
}

UdpHost::UdpHost(std::vector<LocalAddress> addresses, RouteSocket routes)
    : addresses_(std::move(addresses)), routes_(std::move(routes)) {
  constexpr int kFirstIndex = 0x10000;  // an interface of the machine has a smaller index
  for (const LocalAddress& each : addresses_) {
    if (each.device < interfaces_.size()) continue;
    const bool taken = std::ranges::find(interfaces_, each.interface) != interfaces_.end();
    interfaces_.push_back(taken ? kFirstIndex + static_cast<int>(each.device) : each.interface);
  }
}

std::vector<ibv_gid> UdpHost::gids(std::size_t device) const {
  std::vector<ibv_gid> gids;
  for (const LocalAddress& each : addresses_)
    if (each.device == device) gids.push_back(each.address.gid());
  return gids;
}

ibv_mtu UdpHost::path_mtu(std::size_t device) const {
  std::uint32_t mtu = std::numeric_limits<std::uint32_t>::max();
  for (const LocalAddress& each : addresses_)
    if (each.device == device) mtu = std::min(mtu, each.mtu);
  return path_mtu_for(mtu);
}

/// A group has no device: the socket that received the packet says it.
std::size_t UdpHost::rail_of(const verbs::soft::Packet& packet) const {
  if (interfaces_.size() == 1) return 0;
  const LocalAddress* const address = own(Address::from_gid(packet.destination));
  if (address != nullptr) return address->device;
  return packet.mark != 0 ? static_cast<std::size_t>(packet.mark - 1) : 0;
}

bool UdpHost::only_loopback() const {
  return std::ranges::all_of(addresses_,
                             [](const LocalAddress& each) { return each.address.is_loopback(); });
}

// --- addresses and routes -----------------------------------------------------------------------

const LocalAddress* UdpHost::own(const Address& address) const {
  const auto found = std::ranges::find_if(addresses_, [&address](const LocalAddress& each) {
    return each.address.family == address.family && each.address.ip == address.ip;
  });
  return found != addresses_.end() ? &*found : nullptr;
}

/// What the system prefers if it is ours, else one on the interface, else any of the family.
const LocalAddress* UdpHost::source_for(const RouteSocket::Route& route) const {
  if (const LocalAddress* preferred = own(route.source)) return preferred;
  const LocalAddress* best = nullptr;
  for (const LocalAddress& each : addresses_) {
    if (each.address.family != route.next_hop.family) continue;
    if (each.interface == route.interface) return &each;
    if (best == nullptr) best = &each;
  }
  return best;
}

verbs::Result<soft::Route> UdpHost::route(const Address* source, const Address& destination) {
  const bool chosen = source != nullptr && !source->is_zero();
  const LocalAddress* from = chosen ? own(*source) : nullptr;
  if (chosen && from == nullptr) return verbs::errno_code(EADDRNOTAVAIL);
  if (const LocalAddress* self = own(destination)) {
    return soft::Route{.source = from != nullptr ? from->address : self->address,
                       .destination = destination,
                       .next_hop = destination,
                       .interface = interface(from != nullptr ? from->device : self->device),
                       .local = true};
  }
  const auto found = routes_.route(from != nullptr ? &from->address : nullptr, destination);
  if (!found) return found.error();
  if (from == nullptr) from = source_for(*found);
  if (from == nullptr) return verbs::errno_code(ENETUNREACH);
  return soft::Route{.source = from->address,
                     .destination = destination,
                     .next_hop = found->next_hop,
                     .interface = interface(from->device),
                     .local = false};
}

verbs::Result<int> UdpHost::interface_of(const Address& local) {
  const LocalAddress* const address = own(local);
  if (address == nullptr) return verbs::errno_code(EADDRNOTAVAIL);
  return interface(address->device);
}

// --- neighbours ---------------------------------------------------------------------------------

void UdpHost::resolve_neighbour(soft::NeighbourToken token, const soft::Route& route,
                                std::chrono::milliseconds timeout) {
  CM_ASSERT(transport_ != nullptr);
  const LocalAddress* const from = own(route.source);
  const auto found = routes_.route(&route.source, route.destination);
  const bool nobody_to_ask = route.destination.is_multicast() || from == nullptr ||
                             !from->neighbours || !found || found->local;
  if (nobody_to_ask) return transport_->on_neighbour(token, 0);
  const Question question{.token = token,
                          .interface = found->interface,
                          .next_hop = found->next_hop,
                          .destination = route.destination,
                          .deadline = realtime::monotonic_now() + timeout};
  if (questions_.empty()) routes_.watch_neighbours(true);
  if (known(question)) {
    transport_->on_neighbour(token, 0);
  } else {
    questions_.push_back(question);
    transport_->runtime().call_driver();
  }
  if (questions_.empty()) routes_.watch_neighbours(false);
}

/// Makes the kernel ask if it does not.
bool UdpHost::known(const Question& question) {
  switch (routes_.neighbour(question.interface, question.next_hop)) {
    case RouteSocket::Neighbour::kKnown:
      return true;
    case RouteSocket::Neighbour::kAsking:
      return false;
    case RouteSocket::Neighbour::kUnknown:
      sockets_->provoke(question.destination);
      return false;
  }
  return false;
}

void UdpHost::cancel_neighbour(soft::NeighbourToken token) {
  if (std::erase_if(questions_, [&](const Question& each) { return each.token == token; }) == 0)
    return;
  if (questions_.empty()) routes_.watch_neighbours(false);
}

std::optional<verbs::Instant> UdpHost::next_deadline() const {
  if (questions_.empty()) return std::nullopt;
  return std::ranges::min_element(questions_, {}, &Question::deadline)->deadline;
}

/// Looks at all questions again whatever the news: there are few, and seldom.
bool UdpHost::report(verbs::Instant now) {
  if (questions_.empty()) return false;
  if (!routes_.discard_news() && now < *next_deadline()) return false;
  std::vector<std::pair<soft::NeighbourToken, int>> answers;
  std::erase_if(questions_, [&](const Question& each) {
    const bool found = known(each);
    if (!found && now < each.deadline) return false;
    answers.emplace_back(each.token, found ? 0 : ETIMEDOUT);
    return true;
  });
  if (answers.empty()) return false;
  if (questions_.empty()) routes_.watch_neighbours(false);
  for (const auto& [token, error] : answers) transport_->on_neighbour(token, error);
  return true;
}

void UdpHost::abandon() {
  sockets_->close();
  routes_.close();
}

// --- groups -------------------------------------------------------------------------------------

verbs::Result<void> UdpHost::join_group(const Address& local, const Address& group) {
  return sockets_->join(local.gid(), group.gid());
}

void UdpHost::leave_group(const Address& local, const Address& group) {
  sockets_->leave(local.gid(), group.gid());
}

}  // namespace anyrdma::transport::udp
