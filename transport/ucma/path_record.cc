#include "transport/ucma/path_record.h"

#include <arpa/inet.h>

#include <cstring>

namespace anyrdma::transport::ucma {
namespace {

constexpr std::uint8_t kUsable =
    IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL;

// Parts of a path record's fields (IBTA vol 1, 15.2.5.16).
constexpr unsigned kSelectorShift = 6;
constexpr std::uint8_t kValueMask = 0x3f;

ibv_sa_path_rec converted(const ibv_path_record& from) {
  const std::uint32_t flow = ntohl(from.flowlabel_hoplimit);
  ibv_sa_path_rec record{};
  record.dgid = from.dgid;
  record.sgid = from.sgid;
  record.dlid = from.dlid;
  record.slid = from.slid;
  record.flow_label = htonl(flow >> 8);
  record.hop_limit = static_cast<std::uint8_t>(flow);
  record.traffic_class = from.tclass;
  record.reversible = from.reversible_numpath >> 7;
  record.numb_path = 1;
  record.pkey = from.pkey;
  record.sl = ntohs(from.qosclass_sl) & 0xf;
  record.mtu_selector = from.mtu >> kSelectorShift;
  record.mtu = from.mtu & kValueMask;
  record.rate_selector = from.rate >> kSelectorShift;
  record.rate = from.rate & kValueMask;
  record.packet_life_time_selector = from.packetlifetime >> kSelectorShift;
  record.packet_life_time = from.packetlifetime & kValueMask;
  record.preference = kUsable;  // librdmacm shows the flags there (L/ucma_convert_path)
  return record;
}

}  // namespace

std::optional<ibv_sa_path_rec> path_record(std::span<const std::uint8_t> value) {
  for (; value.size() >= sizeof(ibv_path_data); value = value.subspan(sizeof(ibv_path_data))) {
    ibv_path_data entry;
    std::memcpy(&entry, value.data(), sizeof entry);
    if (entry.flags == kUsable) return converted(entry.path);
  }
  return std::nullopt;
}

}  // namespace anyrdma::transport::ucma
