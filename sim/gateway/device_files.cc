#include "sim/gateway/device_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <string>

#include "sim/schedule/random_stream.h"
#include "transport/fabric/outside.h"
#include "transport/soft/address.h"
#include "verbs/runtime.h"
#include "verbs/soft/device_profile.h"
#include "verbs/soft/hca.h"
#include "verbs/soft/packet.h"

namespace anyrdma::sim {

Result<verbs::nodes::Files> device_files(Host& host, const DeviceChoice& choice) {
  const auto profile = verbs::soft::parse_profile(choice.profile);
  if (!profile) return verbs::errno_code(EINVAL);
  const transport::fabric::Outside network(host.interfaces()[0].prefixes,
                                           transport::fabric::Slot{});
  verbs::soft::HcaConfig config = network.device(
      choice.link_layer == "infiniband" ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET);
  verbs::soft::resemble(config, *profile);

  RandomStream random(0, "device files");  // no file says what it gives
  verbs::soft::PacketPool pool;
  verbs::Runtime& runtime = host.transport().runtime();
  const auto hca = verbs::soft::Hca::create(runtime, random, pool, config);
  {
    const verbs::CriticalSection section(runtime);
    std::uint32_t index = 0;
    for (const ibv_gid& gid : network.gids(transport::fabric::kGids)) hca->set_gid(index++, gid);
  }
  const auto own = network.own_gids();
  const auto interface_with = [&](const ibv_gid& gid) -> std::string {
    const transport::soft::Address address = transport::soft::Address::from_gid(gid);
    if (address.is_loopback()) return "lo";
    return std::ranges::any_of(own,
                               [&](const ibv_gid& each) {
                                 return transport::soft::Address::from_gid(each).ip == address.ip;
                               })
               ? host.interfaces()[0].name
               : "";
  };
  const std::array<verbs::nodes::Shown, 1> shown{{{*hca, *hca->device()}}};
  return verbs::nodes::files_of(shown, {.with = interface_with, .main = host.interfaces()[0].name});
}

}  // namespace anyrdma::sim
