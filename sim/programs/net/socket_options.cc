#include "sim/programs/net/socket_options.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <string_view>

namespace anyrdma::sim::programs {
namespace {

struct Default {
  int level;
  int name;
  int value;
};

constexpr std::array kDefaults = {
    Default{IPPROTO_TCP, TCP_KEEPIDLE, 7200},
    Default{IPPROTO_TCP, TCP_KEEPINTVL, 75},
    Default{IPPROTO_TCP, TCP_KEEPCNT, 9},
    Default{IPPROTO_TCP, TCP_SYNCNT, 6},
    Default{IPPROTO_TCP, TCP_LINGER2, 60},
    Default{IPPROTO_TCP, TCP_QUICKACK, 1},
    Default{IPPROTO_IP, IP_TTL, 64},
    Default{IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_WANT},
    Default{IPPROTO_IP, IP_MULTICAST_TTL, 1},
    Default{IPPROTO_IP, IP_MULTICAST_LOOP, 1},
    Default{IPPROTO_IP, IP_MULTICAST_ALL, 1},
    Default{IPPROTO_IPV6, IPV6_UNICAST_HOPS, 64},
    Default{IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_WANT},
    Default{IPPROTO_IPV6, IPV6_MULTICAST_HOPS, 1},
    Default{IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 1},
};

/// Of a connection that is not there yet (RFC 9293).
constexpr int kSegmentOfNoConnection = 536;

template <typename T>
std::vector<std::byte> bytes_of(const T& value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

bool SocketOptions::is_valid(int level, int name, std::span<const std::byte> value) {
  constexpr int kSecondsMax = 32767;  // MAX_TCP_KEEPIDLE, MAX_TCP_KEEPINTVL
  constexpr int kProbesMax = 127;     // MAX_TCP_KEEPCNT
  const bool is_time = name == TCP_KEEPIDLE || name == TCP_KEEPINTVL;
  if (level != IPPROTO_TCP || (!is_time && name != TCP_KEEPCNT)) return true;
  int number = 0;
  if (value.size() < sizeof number) return false;
  std::memcpy(&number, value.data(), sizeof number);
  return number >= 1 && number <= (is_time ? kSecondsMax : kProbesMax);
}

tcp::Keepalive SocketOptions::keepalive() const {
  return {.idle = std::chrono::seconds(number(IPPROTO_TCP, TCP_KEEPIDLE, 0)),
          .interval = std::chrono::seconds(number(IPPROTO_TCP, TCP_KEEPINTVL, 0)),
          .probes_max = static_cast<unsigned>(number(IPPROTO_TCP, TCP_KEEPCNT, 0))};
}

void SocketOptions::set(int level, int name, std::span<const std::byte> value) {
  const auto kept = value.first(std::min(value.size(), kBytesMax));
  set_[{level, name}].assign(kept.begin(), kept.end());
}

std::vector<std::byte> SocketOptions::get(int level, int name, State state) const {
  if (level == IPPROTO_TCP && name == TCP_INFO) {
    tcp_info info{};
    info.tcpi_state = state.listening ? TCP_LISTEN : state.connected ? TCP_ESTABLISHED : TCP_CLOSE;
    info.tcpi_snd_mss = info.tcpi_rcv_mss = static_cast<std::uint32_t>(
        state.connected ? std::size_t{tcp::kSegmentMax} : std::size_t{kSegmentOfNoConnection});
    return bytes_of(info);
  }
  if (const auto found = set_.find({level, name}); found != set_.end()) return found->second;
  if (level == IPPROTO_TCP && name == TCP_CONGESTION) {
    constexpr std::string_view kName("cubic\0\0\0\0\0\0\0\0\0\0\0", 16);  // TCP_CA_NAME_MAX
    const auto bytes = std::as_bytes(std::span(kName));
    return {bytes.begin(), bytes.end()};
  }
  if (level == IPPROTO_TCP && name == TCP_MAXSEG)
    return bytes_of(state.connected ? static_cast<int>(tcp::kSegmentMax) : kSegmentOfNoConnection);
  return bytes_of(number(level, name, 0));
}

int SocketOptions::number(int level, int name, int otherwise) const {
  if (const auto found = set_.find({level, name}); found != set_.end() && !found->second.empty()) {
    int value = 0;  // IP's options may be set with a byte
    std::memcpy(&value, found->second.data(), std::min(found->second.size(), sizeof value));
    return value;
  }
  const auto is_it = [&](const Default& each) { return each.level == level && each.name == name; };
  const auto* const found = std::ranges::find_if(kDefaults, is_it);
  return found == kDefaults.end() ? otherwise : found->value;
}

bool SocketOptions::only_ipv6() const {
  return number(IPPROTO_IPV6, IPV6_V6ONLY, 0) != 0;
}

bool SocketOptions::hears_own_groups(sa_family_t family) const {
  return family == AF_INET6 ? number(IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 1) != 0
                            : number(IPPROTO_IP, IP_MULTICAST_LOOP, 1) != 0;
}

}  // namespace anyrdma::sim::programs
