#include "transport/udp/route_socket.h"

#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

namespace anyrdma::transport::udp {
namespace {

using realtime::Descriptor;
using soft::Address;

constexpr unsigned kValidStates =
    NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_PROBE | NUD_STALE | NUD_DELAY;

std::span<const std::uint8_t> ip_bytes(const Address& address) {
  const std::span<const std::uint8_t> all(address.ip);
  return address.family == AF_INET ? all.last(4) : all;
}

Address address_from(sa_family_t family, std::span<const std::uint8_t> bytes) {
  Address address = Address::wildcard(family);
  const std::size_t size = family == AF_INET ? 4 : 16;
  if (bytes.size() < size) return {};
  std::memcpy(address.ip.data() + address.ip.size() - size, bytes.data(), size);
  return address;
}

/// One question: a netlink header, the fixed part `Body`, and attributes with addresses.
template <class Body>
class Question {
 public:
  Question(std::uint16_t type, const Body& body) {
    header_.nlmsg_type = type;
    header_.nlmsg_flags = NLM_F_REQUEST;
    append(&header_, sizeof header_);
    append(&body, sizeof body);
  }
  void add(std::uint16_t type, std::span<const std::uint8_t> value) {
    const rtattr attribute{static_cast<std::uint16_t>(RTA_LENGTH(value.size())), type};
    append(&attribute, sizeof attribute);
    append(value.data(), value.size());
  }
  std::span<const std::uint8_t> bytes() {
    header_.nlmsg_len = static_cast<std::uint32_t>(size_);
    std::memcpy(bytes_.data(), &header_, sizeof header_);
    return std::span(bytes_).first(size_);
  }

 private:
  // Headers and addresses are multiples of four bytes: nothing needs padding.
  void append(const void* data, std::size_t size) {
    std::memcpy(bytes_.data() + size_, data, size);
    size_ += size;
  }

  nlmsghdr header_{};
  std::array<std::uint8_t, 128> bytes_{};
  std::size_t size_ = 0;
};

/// An answer's fixed part and attributes, or why there is none.
template <class Body>
struct Answer {
  Body body{};
  std::array<std::uint8_t, 4096> bytes{};
  std::size_t size = 0;

  /// The value of an attribute; empty: it has none.
  std::span<const std::uint8_t> attribute(std::uint16_t type) const {
    std::size_t at = NLMSG_ALIGN(sizeof(nlmsghdr) + sizeof(Body));
    while (at + sizeof(rtattr) <= size) {
      rtattr header{};
      std::memcpy(&header, bytes.data() + at, sizeof header);
      if (header.rta_len < sizeof header || at + header.rta_len > size) return {};
      if (header.rta_type == type)
        return std::span(bytes).subspan(at + sizeof header, header.rta_len - sizeof header);
      at += RTA_ALIGN(header.rta_len);
    }
    return {};
  }
};

template <class Body>
verbs::Result<Answer<Body>> ask(const Descriptor& fd, Question<Body> question) {
  if (!fd) return verbs::errno_code(ENETUNREACH);
  Answer<Body> answer;
  // What an earlier question left unread would be taken for the answer to this one.
  while (::recv(fd.get(), answer.bytes.data(), answer.bytes.size(), MSG_DONTWAIT) >= 0) continue;
  const auto bytes = question.bytes();
  if (::send(fd.get(), bytes.data(), bytes.size(), 0) < 0) return verbs::errno_code(errno);
  const ssize_t size = ::recv(fd.get(), answer.bytes.data(), answer.bytes.size(), MSG_DONTWAIT);
  if (size < 0) return verbs::errno_code(errno);
  nlmsghdr header{};
  if (static_cast<std::size_t>(size) < sizeof header + sizeof(nlmsgerr))
    return verbs::errno_code(EPROTO);
  std::memcpy(&header, answer.bytes.data(), sizeof header);
  if (header.nlmsg_type == NLMSG_ERROR) {
    nlmsgerr error{};
    std::memcpy(&error, answer.bytes.data() + sizeof header, sizeof error);
    return verbs::errno_code(error.error == 0 ? EPROTO : -error.error);
  }
  answer.size = std::min<std::size_t>(header.nlmsg_len, static_cast<std::size_t>(size));
  std::memcpy(&answer.body, answer.bytes.data() + sizeof header, sizeof(Body));
  return answer;
}

Descriptor open_netlink() {
  Descriptor fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE));
  const sockaddr_nl name{.nl_family = AF_NETLINK, .nl_pad = 0, .nl_pid = 0, .nl_groups = 0};
  if (fd && ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0)
    fd.reset();
  return fd;
}

}  // namespace

verbs::Result<RouteSocket> RouteSocket::open() {
  RouteSocket result;
  result.questions_ = open_netlink();
  result.news_ = open_netlink();
  if (!result.questions_ || !result.news_) return verbs::errno_code(errno);
  return result;
}

verbs::Result<RouteSocket::Route> RouteSocket::route(const Address* source,
                                                     const Address& destination) {
  const auto family = static_cast<std::uint8_t>(destination.family);
  rtmsg body{};
  body.rtm_family = family;
  body.rtm_dst_len = static_cast<std::uint8_t>(ip_bytes(destination).size() * 8);
  Question<rtmsg> question(RTM_GETROUTE, body);
  question.add(RTA_DST, ip_bytes(destination));
  if (source != nullptr && source->family == destination.family)
    question.add(RTA_SRC, ip_bytes(*source));
  const auto answer = ask(questions_, question);
  if (!answer) return answer.error();
  Route route{.next_hop = destination};
  route.next_hop.port = 0;
  route.local = answer->body.rtm_type == RTN_LOCAL;
  const auto preferred = answer->attribute(RTA_PREFSRC);
  if (!preferred.empty()) route.source = address_from(destination.family, preferred);
  const auto gateway = answer->attribute(RTA_GATEWAY);
  if (!gateway.empty()) route.next_hop = address_from(destination.family, gateway);
  const auto interface = answer->attribute(RTA_OIF);
  if (interface.size() >= sizeof route.interface)
    std::memcpy(&route.interface, interface.data(), sizeof route.interface);
  return route;
}

RouteSocket::Neighbour RouteSocket::neighbour(int interface, const Address& address) {
  ndmsg body{};
  body.ndm_family = static_cast<std::uint8_t>(address.family);
  body.ndm_ifindex = interface;
  Question<ndmsg> question(RTM_GETNEIGH, body);
  question.add(NDA_DST, ip_bytes(address));
  const auto answer = ask(questions_, question);
  if (!answer) return Neighbour::kUnknown;
  if ((answer->body.ndm_state & kValidStates) != 0) return Neighbour::kKnown;
  return (answer->body.ndm_state & NUD_INCOMPLETE) != 0 ? Neighbour::kAsking : Neighbour::kUnknown;
}

void RouteSocket::watch_neighbours(bool on) {
  const int group = RTNLGRP_NEIGH;
  const int option = on ? NETLINK_ADD_MEMBERSHIP : NETLINK_DROP_MEMBERSHIP;
  (void)::setsockopt(news_.get(), SOL_NETLINK, option, &group, sizeof group);
  (void)discard_news();
}

bool RouteSocket::discard_news() {
  std::array<std::uint8_t, 4096> news;
  bool any = false;
  // ENOBUFS says that some were lost: they are not read anyway.
  while (::recv(news_.get(), news.data(), news.size(), MSG_DONTWAIT) >= 0 || errno == ENOBUFS)
    any = true;
  return any;
}

void RouteSocket::close() {
  questions_.reset();
  news_.reset();
}

}  // namespace anyrdma::transport::udp
