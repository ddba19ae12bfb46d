// Automatic path migration of a connection (IBTA vol 1, 17.2.8). Both ends load the same alternate
// path and ask for REARM. An end is ARMED once it hears that the other one wants to migrate no
// more: a packet whose bit MigReq is 0. An end that is ARMED migrates when its retries have ended,
// or when a packet with MigReq comes by the alternate path. Then it is MIGRATED, and sends
// MigReq 1.
#include <utility>

#include "verbs/soft/queue_pair.h"
#include "verbs/wire/gid.h"

namespace anyrdma::verbs::soft {

namespace {

using wire::same;

bool came_by(const PacketPath& path, const Packet& packet) {
  return same(packet.source, path.destination) && same(packet.destination, path.source);
}

}  // namespace

bool SoftQp::hears(const Packet& packet, const roce::Bth& bth) {
  const bool by_primary = came_by(path, packet);
  if (!core.config.path_migration || attr.path_mig_state == IBV_MIG_MIGRATED) return by_primary;
  if (!bth.migration) {
    if (by_primary && attr.path_mig_state == IBV_MIG_REARM) attr.path_mig_state = IBV_MIG_ARMED;
    return by_primary;
  }
  if (by_primary) {
    attr.path_mig_state = IBV_MIG_REARM;  // the peer can no longer follow
    return true;
  }
  if (attr.path_mig_state != IBV_MIG_ARMED) return false;
  if (came_by(alternate, packet)) return migrate();
  // The peer has migrated to a path that is not the alternate one.
  if (!std::exchange(mismatch_reported, true)) raise(IBV_EVENT_PATH_MIG_ERR);
  return false;
}

void SoftQp::load_alternate(const PacketPath& loaded) {
  alternate = loaded;
  alternate.udp_source_port = path.udp_source_port;
  alternate_is_loaded = true;
}

bool SoftQp::may_set_migration(ibv_mig_state wanted, bool loads) const {
  if (wanted == IBV_MIG_MIGRATED) return true;
  // Only the device arms: it knows what the peer says.
  return wanted == IBV_MIG_REARM && (loads || alternate_is_loaded);
}

void SoftQp::set_migration(ibv_mig_state wanted) {
  if (wanted == IBV_MIG_MIGRATED && attr.path_mig_state == IBV_MIG_ARMED) {
    (void)migrate();
    return;
  }
  attr.path_mig_state = wanted;
  mismatch_reported = false;
}

bool SoftQp::migrate() {
  if (attr.path_mig_state != IBV_MIG_ARMED) return false;
  const std::uint8_t index = attr.alt_ah_attr.grh.sgid_index;
  const bool by_gid = attr.alt_ah_attr.is_global != 0;
  const bool usable = core.hca->state_of(alternate.port) == IBV_PORT_ACTIVE &&
                      (!by_gid || same(core.hca->gids_of(alternate.port)[index], alternate.source));
  if (!usable) {
    if (!std::exchange(mismatch_reported, true)) raise(IBV_EVENT_PATH_MIG_ERR);
    return false;
  }
  path = alternate;
  alternate_is_loaded = false;
  attr.ah_attr = attr.alt_ah_attr;
  attr.port_num = attr.alt_port_num;
  attr.pkey_index = attr.alt_pkey_index;
  attr.timeout = attr.alt_timeout;
  attr.path_mig_state = IBV_MIG_MIGRATED;
  publish();
  raise(IBV_EVENT_PATH_MIG);
  return true;
}

}  // namespace anyrdma::verbs::soft
