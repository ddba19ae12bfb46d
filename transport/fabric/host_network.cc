#include "transport/fabric/host_network.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>

#include "transport/fabric/rendezvous/config.h"
#include "transport/realtime/descriptor.h"
#include "verbs/assert.h"
#include "verbs/wire/gid.h"

namespace anyrdma::transport::fabric {
namespace {

using soft::Address;

/// The index of no interface of the machine, plus the number of a device.
constexpr int kFirstIndex = 0x10000;

/// For a device without one: stable, and outside of what interfaces make of their MAC addresses.
ibv_gid made_up_link_local(std::size_t device) {
  ibv_gid gid{};
  gid.raw[0] = 0xfe;
  gid.raw[1] = 0x80;
  gid.raw[8] = 0x02;
  gid.raw[15] = static_cast<std::uint8_t>(1 + device);
  return gid;
}

/// The local address that the system would use towards `destination`, or its errno.
verbs::Result<Address> ask_system(const Address& destination) {
  const realtime::Descriptor fd(::socket(destination.family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd) return verbs::errno_code(ENETUNREACH);
  Address with_port = destination;
  with_port.port = 4791;  // connecting a datagram socket sends nothing, but port 0 is refused
  const sockaddr_storage remote = with_port.to_sockaddr();
  const socklen_t remote_length =
      destination.family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&remote), remote_length) != 0)
    return verbs::errno_code(errno);
  sockaddr_storage local{};
  socklen_t length = sizeof local;
  if (::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&local), &length) != 0)
    return verbs::errno_code(errno);
  return Address::from(reinterpret_cast<const sockaddr&>(local));
}

}  // namespace

HostAddresses HostAddresses::read() {
  HostAddresses result;
  result.all = {Address::loopback(AF_INET), Address::loopback(AF_INET6)};
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return result;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(first, &::freeifaddrs);
  bool found = false;
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0) continue;
    verbs::Result<Address> address = Address::from(*each->ifa_addr);
    if (!address || address->is_loopback()) continue;
    address->port = 0;
    if (!found) result.interface = static_cast<int>(::if_nametoindex(each->ifa_name));
    found = true;
    result.all.push_back(*address);
  }
  return result;
}

HostAddresses HostAddresses::of_device(std::size_t number) {
  HostAddresses result;
  result.interface = kFirstIndex + static_cast<int>(number);
  Address link_local = Address::from_gid(made_up_link_local(number));
  link_local.scope = static_cast<std::uint32_t>(result.interface);
  result.all = {Address::ipv4(0x7f000001 | static_cast<std::uint32_t>(number) << 8), link_local};
  return result;
}

std::vector<ibv_gid> HostAddresses::gids(std::size_t size) const {
  std::vector<Address> ordered = all;
  const auto rank = [](const Address& address) {
    if (address.is_link_local()) return 0;
    if (address.is_loopback()) return address.family == AF_INET ? 1 : 4;
    return address.family == AF_INET ? 2 : 3;
  };
  std::ranges::stable_sort(ordered, {}, rank);
  std::vector<ibv_gid> gids;
  if (ordered.empty() || !ordered.front().is_link_local()) gids.push_back(made_up_link_local(0));
  for (const Address& address : ordered) gids.push_back(address.gid());
  // Several link-local addresses: 127.0.0.1 stays second.
  const auto loopback = std::ranges::find_if(
      gids, [](const ibv_gid& gid) { return wire::same(gid, Address::loopback(AF_INET).gid()); });
  if (loopback != gids.end()) std::rotate(gids.begin() + 1, loopback, loopback + 1);
  if (gids.size() > size) gids.resize(size);
  return gids;
}

HostNetwork::HostNetwork(HostAddresses addresses, std::size_t devices) {
  CM_ASSERT(devices >= 1 && devices <= kRailsMax);
  devices_.push_back(std::move(addresses));
  for (std::size_t i = 1; i < devices; ++i) devices_.push_back(HostAddresses::of_device(i));
}

std::optional<std::size_t> HostNetwork::owner(const Address& address) const {
  for (std::size_t device = 0; device < devices_.size(); ++device) {
    const auto is_it = [&address](const Address& each) {
      return each.family == address.family && each.ip == address.ip;  // whatever the scope
    };
    if (std::ranges::any_of(devices_[device].all, is_it)) return device;
  }
  return std::nullopt;
}

std::optional<std::size_t> HostNetwork::rail_of(const ibv_gid& gid) const {
  return owner(Address::from_gid(gid));
}

verbs::Result<soft::Route> HostNetwork::route(const Address* source, const Address& destination) {
  // Of several devices some have nothing but an address of loopback.
  const bool chosen =
      source != nullptr && (devices_.size() > 1 ? !source->is_zero() : !source->is_any());
  const std::optional<std::size_t> from = chosen ? owner(*source) : std::nullopt;
  if (chosen && !from) return verbs::errno_code(EADDRNOTAVAIL);
  const std::optional<std::size_t> here = owner(destination);
  soft::Route route{.source = destination,
                    .destination = destination,
                    .next_hop = destination,
                    .interface = interface(from ? *from : here.value_or(0)),
                    .local = here.has_value()};
  if (!route.local && !(chosen && destination.is_multicast())) {
    const verbs::Result<Address> local = ask_system(destination);
    // A group is all processes of the fabric, also on a machine that has no way out.
    if (!local && !destination.is_multicast()) return local.error();
    route.source = local ? *local : Address::loopback(destination.family);
  }
  if (chosen) route.source = *source;
  route.source.port = 0;
  return route;
}

verbs::Result<int> HostNetwork::interface_of(const Address& local) {
  const std::optional<std::size_t> device = owner(local);
  if (!device) return verbs::errno_code(EADDRNOTAVAIL);
  return interface(*device);
}

void HostNetwork::resolve_neighbour(soft::NeighbourToken token, const soft::Route& route,
                                    std::chrono::milliseconds) {
  CM_ASSERT(transport_ != nullptr);
  // A group has no neighbour: its link address follows from its own.
  const bool known = route.local || route.destination.is_multicast();
  transport_->on_neighbour(token, known ? 0 : ETIMEDOUT);
}

}  // namespace anyrdma::transport::fabric
