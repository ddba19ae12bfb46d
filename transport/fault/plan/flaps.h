// The times of a flapping port.
#pragma once

#include <cstdint>
#include <vector>

#include "transport/fault/plan/fault.h"

namespace anyrdma::fault {

/// Returns how often a port flaps: once at the beginning of each period that begins before
/// `lasts.most`; FlapPort::kFlaps times if the fault has no duration. At most kFlapsMax.
inline constexpr std::uint32_t kFlapsMax = 10'000;
[[nodiscard]] std::uint32_t flaps_of(const FlapPort& flap, const Lasting& lasts);

/// Returns one fault `port-down ... for TIME` for each flap of a port, if `fault` is a FlapPort at
/// a known time; else `fault` alone. So a trial of explore has a line for each, which the search
/// can leave out.
[[nodiscard]] std::vector<Fault> each_flap(const Fault& fault);

}  // namespace anyrdma::fault
