#include "transport/own_addresses.h"

#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace anyrdma::transport {
namespace {

in6_addr address_in(const ibv_gid& gid) {
  in6_addr address{};
  std::memcpy(&address, gid.raw, sizeof gid.raw);
  return address;
}

bool is_mapped_loopback(const in6_addr& address) {
  return IN6_IS_ADDR_V4MAPPED(&address) && address.s6_addr[12] == 127;
}

/// RoCE v2 carries IPv4 addresses in IPv4-mapped GIDs; other GIDs are IPv6 addresses.
sockaddr_storage socket_address(const in6_addr& address) {
  sockaddr_storage result{};
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    sockaddr_in ipv4{};
    ipv4.sin_family = AF_INET;
    std::memcpy(&ipv4.sin_addr, &address.s6_addr[12], sizeof ipv4.sin_addr);
    std::memcpy(&result, &ipv4, sizeof ipv4);
  } else {
    sockaddr_in6 ipv6{};
    ipv6.sin6_family = AF_INET6;
    ipv6.sin6_addr = address;
    std::memcpy(&result, &ipv6, sizeof ipv6);
  }
  return result;
}

/// In the order of the tables, each once.
class Collection {
 public:
  void add(const ibv_gid_entry& entry) {
    if (entry.gid_type == IBV_GID_TYPE_IB) return;
    const in6_addr address = address_in(entry.gid);
    if (IN6_IS_ADDR_LINKLOCAL(&address)) return;
    const auto same = [&](const in6_addr& other) { return IN6_ARE_ADDR_EQUAL(&other, &address); };
    if (std::none_of(all_.begin(), all_.end(), same)) all_.push_back(address);
  }

  [[nodiscard]] std::vector<sockaddr_storage> loopback_last() && {
    std::stable_partition(all_.begin(), all_.end(), [](const in6_addr& address) {
      return !IN6_IS_ADDR_LOOPBACK(&address) && !is_mapped_loopback(address);
    });
    std::vector<sockaddr_storage> result(all_.size());
    std::transform(all_.begin(), all_.end(), result.begin(), socket_address);
    return result;
  }

 private:
  std::vector<in6_addr> all_;
};

Result<void> add_port(verbs::Provider& provider, ibv_context* context, std::uint8_t port,
                      Collection& found) {
  ibv_port_attr attr{};
  if (auto queried = provider.query_port(context, port, &attr); !queried) return queried;
  for (int index = 0; index < attr.gid_tbl_len; ++index) {
    const auto entry = provider.query_gid(context, port, static_cast<std::uint32_t>(index));
    if (entry) found.add(*entry);  // most are empty
  }
  return {};
}

Result<void> add_device(verbs::Provider& provider, ibv_context* context, Collection& found) {
  ibv_device_attr attr{};
  if (auto queried = provider.query_device(context, &attr); !queried) return queried;
  for (unsigned port = 1; port <= attr.phys_port_cnt; ++port) {
    auto added = add_port(provider, context, static_cast<std::uint8_t>(port), found);
    if (!added) return added;
  }
  return {};
}

}  // namespace

Result<std::vector<sockaddr_storage>> own_addresses(Transport& transport) {
  Collection found;
  for (ibv_device* const device : transport.devices()) {
    ibv_context* context = nullptr;
    {
      const verbs::CriticalSection section(transport.runtime());
      context = transport.context_of(device);
    }
    if (context == nullptr) continue;
    const auto added = add_device(transport.provider_of(device), context, found);
    if (!added && added.error().value() != EIO && added.error().value() != ENODEV) {
      return added.error();
    }
  }
  return std::move(found).loopback_last();
}

}  // namespace anyrdma::transport
