// Opens the real-time transports by name. It is separate from open.h so that the drop-in libraries
// do not contain the simulator.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "transport/fault/part.h"
#include "transport/open/opened.h"

namespace anyrdma::transport {

/// Opens any transport of open.h except "sim", with the same errors. EINVAL: "sim", or an unknown
/// name.
[[nodiscard]] OpenResult open_real(std::string_view name, const OpenOptions& options);

/// Returns a sentence that explains why open_real() does not know the name. Empty: it knows the
/// name.
[[nodiscard]] std::string why_not_real(std::string_view name);

/// Returns which faults the transport of this name can inject. `devices`: the number of devices
/// over "fabric".
[[nodiscard]] fault::Abilities fault_abilities(std::string_view transport, std::size_t devices);

}  // namespace anyrdma::transport
