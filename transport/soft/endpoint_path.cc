// RDMA_OPTION_IB_PATH: a route that the application brings along (kernel:
// ucma_set_ib_path, rdma_set_ib_path): the one option that an event follows.
#include <arpa/inet.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "transport/soft/endpoint.h"

namespace anyrdma::transport::soft {
namespace {

constexpr std::uint32_t kUsable =
    IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL;

// Parts of a path record's fields (IBTA vol 1, 15.2.5.16).
constexpr unsigned kSelectorShift = 6;
constexpr std::uint8_t kValueMask = 0x3f;
constexpr std::uint32_t kFlowLabelMask = 0xfffff;

/// The first usable one; nullopt without any.
std::optional<ibv_path_record> usable_record(std::span<const std::uint8_t> value) {
  for (; !value.empty(); value = value.subspan(sizeof(ibv_path_data))) {
    ibv_path_data entry;
    std::memcpy(&entry, value.data(), sizeof entry);
    if (entry.flags == kUsable) return entry.path;
  }
  return std::nullopt;
}

}  // namespace

Result<void> SoftEndpoint::set_path(std::span<const std::uint8_t> value) {
  if (value.size() % sizeof(ibv_path_data) != 0) return verbs::errno_code(EINVAL);
  const std::optional<ibv_path_record> record = usable_record(value);
  if (!record) return verbs::errno_code(EINVAL);
  if (Result<void> legal = admits(Call::kSetIbPath); !legal) return legal;
  if (source_.family == AF_IB) return verbs::errno_code(ENODEV);  // bound to no interface
  const std::uint32_t flow = ntohl(record->flowlabel_hoplimit);
  std::memcpy(path_.source.data(), record->sgid.raw, path_.source.size());
  std::memcpy(path_.destination.data(), record->dgid.raw, path_.destination.size());
  path_.flow_label = flow >> 8 & kFlowLabelMask;
  path_.hop_limit = static_cast<std::uint8_t>(flow);
  path_.traffic_class = record->tclass;
  path_.mtu = record->mtu & kValueMask;
  path_.packet_lifetime = record->packetlifetime & kValueMask;
  fill_path_record();
  path_record_->pkey = record->pkey;
  path_record_->sl = ntohs(record->qosclass_sl) & 0xf;
  path_record_->mtu_selector = record->mtu >> kSelectorShift;
  path_record_->rate_selector = record->rate >> kSelectorShift;
  path_record_->rate = record->rate & kValueMask;
  path_record_->packet_life_time_selector = record->packetlifetime >> kSelectorShift;
  enter(State::kRouteResolved);
  queue(RDMA_CM_EVENT_ROUTE_RESOLVED);
  return {};
}

}  // namespace anyrdma::transport::soft
