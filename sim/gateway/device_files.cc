#include "sim/gateway/device_files.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/schedule/random_stream.h"
#include "sim/world.h"
#include "transport/fabric/address_change.h"
#include "transport/fabric/outside.h"
#include "transport/soft/address.h"
#include "verbs/runtime.h"
#include "verbs/soft/device_profile.h"
#include "verbs/soft/hca.h"
#include "verbs/soft/packet.h"

namespace anyrdma::sim {

namespace {

using transport::soft::DeviceChange;

/// Those of a device that has just been plugged in: without empty places between them.
void set_gids(verbs::soft::Hca& hca, const transport::fabric::Outside& network, std::size_t rail) {
  const auto gids = network.gids(transport::fabric::kGids, rail);
  const std::uint8_t port = network.port(rail);
  for (std::uint32_t index = 0; index < hca.gids_of(port).size(); ++index)
    hca.set_port_gid(port, index, index < gids.size() ? gids[index] : ibv_gid{});
}

}  // namespace

Result<verbs::nodes::Files> device_files(Host& host, const DeviceChoice& choice) {
  const auto profile = verbs::soft::parse_profile(choice.profile);
  if (!profile) return verbs::errno_code(EINVAL);
  std::vector<transport::fabric::Rail> rails;
  for (const Interface& each : host.interfaces()) {
    const Nic::Past* const past = each.nic->past();
    rails.push_back({past == nullptr ? each.prefixes : past->addresses, each.device, each.port});
  }
  transport::fabric::Outside network(rails, transport::fabric::Slot{});
  RandomStream random(0, "device files");  // no file says what it gives
  verbs::soft::PacketPool pool;
  verbs::Runtime& runtime = host.transport().runtime();
  std::vector<std::unique_ptr<verbs::soft::Hca>> devices;
  std::vector<verbs::nodes::Shown> shown;
  bool is_shown = false;
  for (std::size_t rail = 0; rail < rails.size(); ++rail) {
    const Nic& nic = *host.interfaces()[rail].nic;
    if (network.port(rail) == 1) {
      verbs::soft::HcaConfig config = network.device(
          choice.link_layer == "infiniband" ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET,
          rail);
      verbs::soft::resemble(config, *profile);
      auto& made = *devices.emplace_back(verbs::soft::Hca::create(runtime, random, pool, config));
      made.set_lids(&host.world().lids());
      is_shown = nic.present();
      if (is_shown) shown.push_back({made, *made.device(), {}});
    }
    if (is_shown) shown.back().interfaces.push_back(host.interfaces()[rail].name);
    verbs::soft::Hca& hca = *devices.back();
    const verbs::CriticalSection section(runtime);
    set_gids(hca, network, rail);
    if (nic.past() != nullptr) {
      for (const DeviceChange& change : nic.past()->changes) {
        if (change.kind == DeviceChange::Kind::kReturned) {
          set_gids(hca, network, rail);
        } else {
          transport::fabric::change_address(network, hca, change, rail);
        }
      }
    }
    if (nic.port_is_down()) hca.set_state_of(network.port(rail), IBV_PORT_DOWN);
  }
  const auto interface_with = [&](const ibv_gid& gid) -> std::string {
    if (transport::soft::Address::from_gid(gid).is_loopback()) return "lo";
    const auto rail = network.rail_of(gid);
    return rail ? host.interfaces()[*rail].name : "";
  };
  return verbs::nodes::files_of(shown, interface_with);
}

}  // namespace anyrdma::sim
