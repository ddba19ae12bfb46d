// The ports of the software HCA: their state, address tables, LIDs and counters.
#include <algorithm>
#include <cerrno>
#include <utility>

#include "verbs/soft/rc_constants.h"
#include "verbs/soft/soft_hca.h"
#include "verbs/wire/gid.h"

namespace anyrdma::verbs::soft {

namespace {

using wire::same;

constexpr std::uint32_t kPortCmSupported = 1 << 16;  // IBV_PORT_CM_SUP
constexpr std::uint8_t kPhysStateLinkUp = 5;
constexpr std::uint8_t kPhysStateDisabled = 3;
constexpr std::uint8_t kWidth4x = 2;
constexpr std::uint8_t kSpeedEdr = 32;
constexpr __be16 kDefaultPartition = 0xffff;  // the same in both byte orders

bool is_empty(const ibv_gid& gid) {
  return same(gid, ibv_gid{});
}

bool has(std::span<const ibv_gid> gids, const ibv_gid& gid) {
  return std::ranges::any_of(gids, [&gid](const ibv_gid& each) { return same(each, gid); });
}

}  // namespace

// --- queries ------------------------------------------------------------------------------------

Result<void> SoftHca::query_port(ibv_context*, std::uint8_t port, ibv_port_attr* attr) {
  CriticalSection section(core_.runtime);
  if (core_.removed) return errno_code(EIO);
  if (!has_port(port)) return errno_code(EINVAL);
  *attr = ibv_port_attr{};
  attr->state = at(port).state;
  attr->max_mtu = IBV_MTU_4096;
  attr->active_mtu = core_.config.active_mtu;
  attr->gid_tbl_len = kGidTableSize;
  attr->port_cap_flags = kPortCmSupported;
  attr->max_msg_sz = kMessageBytesMax;
  attr->pkey_tbl_len = 1;
  attr->max_vl_num = 1;
  attr->active_width = kWidth4x;
  attr->active_speed = kSpeedEdr;
  attr->phys_state = at(port).state == IBV_PORT_ACTIVE ? kPhysStateLinkUp : kPhysStateDisabled;
  attr->link_layer = core_.config.link_layer;
  if (attr->link_layer == IBV_LINK_LAYER_INFINIBAND) {
    constexpr std::uint16_t kSubnetManagerLid = 1;
    attr->lid = lid_of(port);
    attr->sm_lid = kSubnetManagerLid;
  } else {
    attr->flags = IBV_QPF_GRH_REQUIRED;
  }
  return {};
}

Result<ibv_gid_entry> SoftHca::query_gid(ibv_context*, std::uint8_t port, std::uint32_t index) {
  CriticalSection section(core_.runtime);
  if (core_.removed) return errno_code(EIO);
  if (!has_port(port) || index >= kGidTableSize) return errno_code(EINVAL);
  if (is_empty(at(port).gids[index])) return errno_code(ENODATA);
  ibv_gid_entry entry{};
  entry.gid = at(port).gids[index];
  entry.gid_index = index;
  entry.port_num = port;
  entry.gid_type =
      core_.config.link_layer == IBV_LINK_LAYER_INFINIBAND ? IBV_GID_TYPE_IB : IBV_GID_TYPE_ROCE_V2;
  return entry;
}

Result<__be16> SoftHca::query_pkey(ibv_context*, std::uint8_t port, int index) {
  CriticalSection section(core_.runtime);
  if (core_.removed) return errno_code(EIO);
  if (!has_port(port) || index != 0) return errno_code(EINVAL);
  return kDefaultPartition;
}

// --- what the network layer below tells us ------------------------------------------------------

void SoftHca::set_port_gid(std::uint8_t port, std::uint32_t index, const ibv_gid& gid) {
  CM_ASSERT(index < kGidTableSize);
  if (same(at(port).gids[index], gid)) return;
  at(port).gids[index] = gid;
  raise_everywhere(port, IBV_EVENT_GID_CHANGE);
}

// Near memory is for devices with one port.
void SoftHca::set_state_of(std::uint8_t port, ibv_port_state state) {
  if (std::exchange(at(port).state, state) == state) return;
  const bool active = state == IBV_PORT_ACTIVE;
  if (core_.near_memory != nullptr) core_.near_memory->set_open(active);
  raise_everywhere(port, active ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR);
}

bool SoftHca::own_gid(const ibv_gid& gid) const {
  return !is_empty(gid) &&
         std::ranges::any_of(ports_, [&gid](const Port& port) { return has(port.gids, gid); });
}

std::uint8_t SoftHca::port_of(const ibv_gid& gid) const {
  for (std::uint8_t port = core_.config.ports; port > 1; --port) {
    if (has(at(port).gids, gid)) return port;
  }
  return 1;
}

// --- LIDs ---------------------------------------------------------------------------------------

void SoftHca::set_lids(const LidTable* lids) {
  CriticalSection section(core_.runtime);
  core_.lids = lids;
}

std::uint16_t SoftHca::lid_of(std::uint8_t port) const {
  if (core_.lids == nullptr) return port;
  for (const ibv_gid& gid : at(port).gids) {
    const std::uint16_t lid = is_empty(gid) ? std::uint16_t{0} : core_.lids->lid_of(gid);
    if (lid != 0) return lid;
  }
  return 0;
}

ibv_gid SoftHca::lid_gid_of(std::uint8_t port) const {
  return core_.lids == nullptr ? at(port).gids[0] : gid_of_lid(lid_of(port));
}

ibv_gid SoftHca::gid_of_lid(std::uint16_t lid) const {
  if (core_.lids != nullptr) return core_.lids->gid_of(lid).value_or(ibv_gid{});
  return lid != 0 && lid <= ports_.size() ? ports_[lid - 1].gids[0] : ibv_gid{};
}

}  // namespace anyrdma::verbs::soft
