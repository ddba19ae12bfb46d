#include "transport/udp/local_addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>

#include "transport/realtime/descriptor.h"
#include "transport/udp/config.h"

namespace anyrdma::transport::udp {
namespace {

using soft::Address;

/// IPv6, UDP, BTH, RETH, ImmDt, padding and ICRC.
constexpr std::uint32_t kHeaderBytesMax = 40 + 8 + 12 + 16 + 4 + 4 + 4;
constexpr std::uint32_t kEthernetMtu = 1500;
constexpr unsigned kWithoutNeighbours = IFF_LOOPBACK | IFF_POINTOPOINT | IFF_NOARP;

std::uint32_t mtu_of(const char* interface) {
  const realtime::Descriptor fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strncpy(request.ifr_name, interface, sizeof request.ifr_name - 1);
  if (!fd || ::ioctl(fd.get(), SIOCGIFMTU, &request) != 0) return kEthernetMtu;
  return static_cast<std::uint32_t>(request.ifr_mtu);
}

std::vector<LocalAddress> all_addresses() {
  std::vector<LocalAddress> all;
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return all;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(first, &::freeifaddrs);
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0) continue;
    verbs::Result<Address> address = Address::from(*each->ifa_addr);
    if (!address || address->family == AF_IB) continue;
    address->port = 0;
    all.push_back({.address = *address,
                   .interface = static_cast<int>(::if_nametoindex(each->ifa_name)),
                   .mtu = mtu_of(each->ifa_name),
                   .neighbours = (each->ifa_flags & kWithoutNeighbours) == 0});
  }
  return all;
}

std::optional<Address> parse(const std::string& text) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  const sockaddr* found = nullptr;
  if (::inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
    found = reinterpret_cast<const sockaddr*>(&v4);
  } else if (::inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1) {
    found = reinterpret_cast<const sockaddr*>(&v6);
  }
  if (found == nullptr) return std::nullopt;
  const verbs::Result<Address> address = Address::from(*found);
  if (!address || address->is_zero() || address->is_multicast()) return std::nullopt;
  return *address;
}

/// The interface with that address; any loopback address belongs to the one that has 127.0.0.1.
std::optional<LocalAddress> find(const std::vector<LocalAddress>& all, const Address& wanted) {
  for (const LocalAddress& each : all) {
    const bool equal = each.address.family == wanted.family && each.address.ip == wanted.ip;
    const bool loopback = wanted.is_loopback() && each.address.is_loopback();
    if (!equal && !loopback) continue;
    LocalAddress result = each;
    result.address = wanted;
    return result;
  }
  return std::nullopt;
}

/// IPv6 addresses are not in their first seconds, while the kernel looks for duplicates.
bool usable(const Address& address) {
  const realtime::Descriptor fd(::socket(address.family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const sockaddr_storage name = address.to_sockaddr();
  return fd && ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&name),
                      address.family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6)) == 0;
}

verbs::Result<std::vector<LocalAddress>> choose(const std::vector<LocalAddress>& all,
                                                const std::vector<std::string>& wanted) {
  std::vector<LocalAddress> chosen;
  for (const std::string& text : wanted) {
    const std::optional<Address> address = parse(text);
    if (!address) return make_error_code(UdpErrc::kBadAddress);
    const std::optional<LocalAddress> local = find(all, *address);
    if (!local) return make_error_code(UdpErrc::kNotLocal);
    chosen.push_back(*local);
  }
  return chosen;
}

/// Numbers the devices in the order in which their interfaces first appear.
void give_to_devices(std::vector<LocalAddress>& addresses) {
  std::vector<int> interfaces;
  for (LocalAddress& each : addresses) {
    const auto found = std::ranges::find(interfaces, each.interface);
    each.device = static_cast<std::size_t>(found - interfaces.begin());
    if (found == interfaces.end()) interfaces.push_back(each.interface);
  }
}

/// Drops what exceeds the numbers of devices and of their addresses.
void limit(std::vector<LocalAddress>& addresses) {
  std::array<std::size_t, kDevicesMax> counts{};
  std::erase_if(addresses, [&counts](const LocalAddress& each) {
    return each.device >= kDevicesMax || ++counts[each.device] > kLocalAddressesMax;
  });
}

}  // namespace

verbs::Result<std::vector<LocalAddress>> local_addresses(const std::vector<std::string>& wanted) {
  std::vector<LocalAddress> chosen = all_addresses();
  if (!wanted.empty()) {
    auto named = choose(chosen, wanted);
    if (!named) return named.error();
    chosen = std::move(*named);
  } else {
    std::erase_if(chosen, [](const LocalAddress& each) {
      return each.address.is_loopback() || each.address.is_link_local() || !usable(each.address);
    });
    std::stable_sort(chosen.begin(), chosen.end(), [](const auto& a, const auto& b) {
      return a.address.family == AF_INET && b.address.family != AF_INET;
    });
  }
  if (chosen.empty()) return make_error_code(UdpErrc::kNoAddress);
  give_to_devices(chosen);
  limit(chosen);
  return chosen;
}

verbs::Result<std::vector<LocalAddress>> local_addresses(
    const std::vector<std::vector<std::string>>& devices) {
  if (devices.size() > kDevicesMax) return make_error_code(UdpErrc::kTooManyDevices);
  const std::vector<LocalAddress> all = all_addresses();
  std::vector<LocalAddress> chosen;
  for (std::size_t device = 0; device < devices.size(); ++device) {
    if (devices[device].empty()) return make_error_code(UdpErrc::kBadAddress);
    const auto named = choose(all, devices[device]);
    if (!named) return named.error();
    for (LocalAddress each : *named) {
      const bool taken = std::ranges::any_of(chosen, [&each, device](const LocalAddress& other) {
        return other.device != device && other.address == each.address;
      });
      if (taken) return make_error_code(UdpErrc::kBadAddress);
      each.device = device;
      chosen.push_back(each);
    }
  }
  limit(chosen);
  return chosen;
}

ibv_mtu path_mtu_for(std::uint32_t interface_mtu) {
  const std::uint32_t room = interface_mtu - std::min(interface_mtu, kHeaderBytesMax);
  if (room >= 4096) return IBV_MTU_4096;
  if (room >= 2048) return IBV_MTU_2048;
  if (room >= 1024) return IBV_MTU_1024;
  return room >= 512 ? IBV_MTU_512 : IBV_MTU_256;
}

}  // namespace anyrdma::transport::udp
