#include "sim/tracee/network.h"

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "transport/realtime/descriptor.h"

namespace anyrdma::sim::tracee {
namespace {

using transport::realtime::Descriptor;
using transport::soft::Prefix;
using Message = std::vector<std::byte>;

constexpr int kLoopback = 1;
constexpr std::uint32_t kMtu = 1500;

/// Puts a request together: a header, a structure of its kind, attributes within attributes.
class Request {
 public:
  template <class Body>
  Request(std::uint16_t type, unsigned flags, const Body& body) {
    nlmsghdr header{};
    header.nlmsg_type = type;
    header.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
    append(std::as_bytes(std::span(&header, 1)));
    append(std::as_bytes(std::span(&body, 1)));
  }

  void put(std::uint16_t type, std::span<const std::byte> value) {
    const std::size_t at = begin(type);
    append(value);
    end(at);
  }
  template <class Value>
  void put_value(std::uint16_t type, const Value& value) {
    put(type, std::as_bytes(std::span(&value, 1)));
  }
  void put_text(std::uint16_t type, std::string_view text) {
    put(type, std::as_bytes(std::span(text)));
  }
  [[nodiscard]] std::size_t begin(std::uint16_t type) {
    const rtattr attribute{.rta_len = 0, .rta_type = type};
    const std::size_t at = bytes_.size();
    append(std::as_bytes(std::span(&attribute, 1)));
    return at;
  }
  void end(std::size_t at) {
    const auto length = static_cast<std::uint16_t>(bytes_.size() - at);
    std::memcpy(bytes_.data() + at + offsetof(rtattr, rta_len), &length, sizeof length);
    bytes_.resize(RTA_ALIGN(bytes_.size()));
  }
  [[nodiscard]] Message finish() {
    const auto length = static_cast<std::uint32_t>(bytes_.size());
    std::memcpy(bytes_.data() + offsetof(nlmsghdr, nlmsg_len), &length, sizeof length);
    return std::move(bytes_);
  }

 private:
  void append(std::span<const std::byte> bytes) {
    // Not insert(), in which g++ 12 sees an overflow at -O3 that is not there.
    const std::size_t at = bytes_.size();
    bytes_.resize(at + bytes.size());
    std::memcpy(bytes_.data() + at, bytes.data(), bytes.size());
  }

  Message bytes_;
};

Message up(int index) {
  ifinfomsg body{};
  body.ifi_index = index;
  body.ifi_flags = IFF_UP;
  body.ifi_change = IFF_UP;
  return Request(RTM_NEWLINK, 0, body).finish();
}

/// All are up once they are told to be, and lose what is sent.
Message interface_of_kind(std::string_view kind, const InterfaceOptions& options,
                          std::uint32_t number) {
  Request request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, ifinfomsg{});
  request.put_text(IFLA_IFNAME, options.name.substr(0, IFNAMSIZ - 1));
  request.put_value(IFLA_ADDRESS, options.mac);
  request.put_value(IFLA_MTU, kMtu);
  const std::size_t info = request.begin(IFLA_LINKINFO);
  request.put_text(IFLA_INFO_KIND, kind);
  if (kind == "vxlan") {
    const std::size_t data = request.begin(IFLA_INFO_DATA);
    request.put_value(IFLA_VXLAN_ID, number);
    request.put_value(IFLA_VXLAN_PORT, htons(4789));
    request.end(data);
  }
  request.end(info);
  return request.finish();
}

/// No address that the kernel makes up by itself, and tries out for a second.
Message own_addresses_only() {
  constexpr auto kInternet6 = static_cast<std::uint16_t>(AF_INET6);
  Request request(RTM_NEWLINK, 0, ifinfomsg{});
  const std::size_t families = request.begin(IFLA_AF_SPEC);
  const std::size_t family = request.begin(kInternet6);
  request.put_value(IFLA_INET6_ADDR_GEN_MODE, std::uint8_t{IN6_ADDR_GEN_MODE_NONE});
  request.end(family);
  request.end(families);
  return request.finish();
}

Message address_of(const Prefix& prefix, bool added = true) {
  const bool ipv4 = prefix.address.family == AF_INET;
  const unsigned mapped = ipv4 ? 12 : 0;
  ifaddrmsg body{};
  body.ifa_family = static_cast<std::uint8_t>(prefix.address.family);
  body.ifa_prefixlen = static_cast<std::uint8_t>(prefix.bits - 8 * mapped);
  body.ifa_flags = IFA_F_PERMANENT | (ipv4 ? 0 : IFA_F_NODAD);
  body.ifa_scope = prefix.address.is_link_local() ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE;
  constexpr std::uint16_t kAdd = RTM_NEWADDR;
  constexpr std::uint16_t kDrop = RTM_DELADDR;
  Request request(added ? kAdd : kDrop, added ? NLM_F_CREATE | NLM_F_EXCL : 0, body);
  const auto bytes = std::as_bytes(std::span(prefix.address.ip)).subspan(mapped);
  request.put(IFA_LOCAL, bytes);
  request.put(IFA_ADDRESS, bytes);
  if (ipv4) {
    auto all = prefix.address.ip;
    for (unsigned bit = prefix.bits; bit < 8 * all.size(); ++bit)
      all[bit / 8] = static_cast<std::uint8_t>(all[bit / 8] | 0x80 >> (bit % 8));
    request.put(IFA_BROADCAST, std::as_bytes(std::span(all)).subspan(mapped));
  }
  return request.finish();
}

/// Sends it and hears the answer. False: the kernel does not do it.
bool ask(int socket, const Message& message) {
  if (::send(socket, message.data(), message.size(), 0) != static_cast<ssize_t>(message.size()))
    return false;
  alignas(nlmsghdr) std::array<std::byte, 4096> answer{};
  const ssize_t length = ::recv(socket, answer.data(), answer.size(), 0);
  if (length < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(nlmsgerr)))) return false;
  nlmsgerr error{};
  std::memcpy(&error, answer.data() + NLMSG_HDRLEN, sizeof error);
  return error.error == 0;
}

/// Both kinds of request have it at the same place behind their header.
void set_index(Message& message, int index) {
  static_assert(offsetof(ifinfomsg, ifi_index) == offsetof(ifaddrmsg, ifa_index));
  std::memcpy(message.data() + NLMSG_HDRLEN + offsetof(ifinfomsg, ifi_index), &index, sizeof index);
}

int index_of(const std::string& name) {
  ifreq request{};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  const Descriptor any(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return ::ioctl(any.get(), SIOCGIFINDEX, &request) == 0 ? request.ifr_ifindex : 0;
}

}  // namespace

Network::Network(const std::vector<InterfaceOptions>& interfaces) : loopback_up_(up(kLoopback)) {
  std::uint32_t number = 0;
  for (const InterfaceOptions& options : interfaces) {
    Interface& interface = interfaces_.emplace_back();
    interface.name = options.name.substr(0, IFNAMSIZ - 1);
    ++number;
    for (const std::string_view kind : {"dummy", "vxlan", "ifb"})
      interface.kinds.push_back(interface_of_kind(kind, options, number));
    interface.settings.push_back(own_addresses_only());
    interface.settings.push_back(up(0));
    for (const Prefix& prefix : options.addresses)
      interface.addresses.push_back(address_of(prefix));
  }
}

bool Network::set_up(int socket, Interface& interface) {
  const bool made = std::ranges::any_of(
      interface.kinds, [socket](const Message& each) { return ask(socket, each); });
  int index = made ? index_of(interface.name) : 0;
  for (Message& each : interface.settings) {
    set_index(each, index);
    // A kernel without IPv6 makes up no addresses of it either.
    if (made) (void)ask(socket, each);
  }
  if (index == 0) index = kLoopback;
  for (Message& each : interface.addresses) {
    set_index(each, index);
    (void)ask(socket, each);
  }
  return made;
}

Network::Made Network::set_up() {
  const Descriptor socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!socket || !ask(socket.get(), loopback_up_)) return Made::kNothing;
  bool made = true;
  for (Interface& each : interfaces_) made &= set_up(socket.get(), each);
  return made ? Made::kInterfaces : Made::kOnLoopback;
}

bool change_address(const std::string& interface, const Prefix& prefix, bool added) {
  const Descriptor socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!socket) return false;
  const int index = index_of(interface);
  Message message = address_of(prefix, added);
  set_index(message, index == 0 ? kLoopback : index);
  return ask(socket.get(), message);
}

}  // namespace anyrdma::sim::tracee
