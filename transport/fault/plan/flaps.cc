#include "transport/fault/plan/flaps.h"

#include <algorithm>
#include <variant>

namespace anyrdma::fault {

std::uint32_t flaps_of(const FlapPort& flap, const Lasting& lasts) {
  if (lasts.for_ever() || flap.every <= verbs::Duration::zero()) return FlapPort::kFlaps;
  const auto periods = (lasts.most - verbs::Duration(1)) / flap.every + 1;
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(periods, 1, kFlapsMax));
}

std::vector<Fault> each_flap(const Fault& fault) {
  const auto* const flap = std::get_if<FlapPort>(&fault.action);
  const auto* const at = std::get_if<AtTime>(&fault.trigger);
  if (flap == nullptr || at == nullptr) return {fault};
  std::vector<Fault> all;
  for (std::uint32_t i = 0; i < flaps_of(*flap, fault.lasts); ++i) {
    all.push_back({AtTime{at->time + i * flap->every},
                   PortDown{flap->host, flap->device, flap->port}, fault.maybe, flap->down});
  }
  return all;
}

}  // namespace anyrdma::fault
