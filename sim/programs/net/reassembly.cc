#include "sim/programs/net/reassembly.h"

#include <algorithm>
#include <chrono>

namespace anyrdma::sim::programs {
namespace {

constexpr verbs::Duration kPatience = std::chrono::seconds(30);
constexpr std::size_t kBytesMax = 65535;

}  // namespace

std::optional<std::vector<std::uint8_t>> Reassembly::add(verbs::Instant now,
                                                         const verbs::soft::Packet& packet,
                                                         const recording::Fragment& fragment) {
  std::erase_if(datagrams_,
                [now](const auto& each) { return now - each.second.begun > kPatience; });
  if (fragment.offset + fragment.data.size() > kBytesMax) return std::nullopt;
  Ip source;
  Ip destination;
  std::copy_n(packet.source.raw, source.size(), source.begin());
  std::copy_n(packet.destination.raw, destination.size(), destination.begin());
  const Key key{source, destination, fragment.protocol, fragment.identification};
  Datagram& datagram =
      datagrams_.try_emplace(key, Datagram{.begun = now, .parts = {}, .size = {}}).first->second;
  // Once more, or not: the first that came counts.
  datagram.parts.try_emplace(fragment.offset, fragment.data.begin(), fragment.data.end());
  if (!fragment.more) datagram.size = fragment.offset + fragment.data.size();
  std::vector<std::uint8_t> whole;
  for (const auto& [offset, bytes] : datagram.parts) {
    if (offset != whole.size()) return std::nullopt;  // one is missing, or they overlap
    whole.insert(whole.end(), bytes.begin(), bytes.end());
  }
  if (datagram.size != whole.size()) return std::nullopt;
  datagrams_.erase(key);
  return whole;
}

}  // namespace anyrdma::sim::programs
