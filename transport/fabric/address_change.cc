#include "transport/fabric/address_change.h"

#include <algorithm>
#include <cstdint>

#include "verbs/wire/gid.h"

namespace anyrdma::transport::fabric {

void change_address(Outside& outside, verbs::soft::Hca& hca, const soft::DeviceChange& change,
                    std::size_t rail) {
  const bool added = change.kind == soft::DeviceChange::Kind::kAddressAdded;
  const bool changed = added ? outside.add_address(rail, {change.neighbour, change.bits})
                             : outside.drop_address(rail, change.neighbour);
  if (!changed) return;
  const ibv_gid own = change.neighbour.gid();
  const ibv_gid empty{};
  const std::uint8_t port = outside.port(rail);
  const auto table = hca.gids_of(port);
  const auto at = std::ranges::find_if(
      table, [&](const ibv_gid& each) { return wire::same(each, added ? empty : own); });
  if (at == table.end()) return;
  hca.set_port_gid(port, static_cast<std::uint32_t>(at - table.begin()), added ? own : empty);
}

}  // namespace anyrdma::transport::fabric
