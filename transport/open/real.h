// The real-time transports, by name. Separate from open.h so that the drop-in libraries do not
// contain the simulator.
#pragma once

#include <string>
#include <string_view>

#include "transport/fault/part.h"
#include "transport/open/opened.h"

namespace anyrdma::transport {

/// Opens any transport of open.h but "sim", with the same errors. EINVAL: "sim", or no such name.
[[nodiscard]] OpenResult open_real(std::string_view name, const OpenOptions& options);

/// The sentence that says why open_real() does not know the name. Empty: it knows it.
[[nodiscard]] std::string why_not_real(std::string_view name);

/// The faults that the transport of this name can inject.
[[nodiscard]] fault::Abilities fault_abilities(std::string_view transport);

}  // namespace anyrdma::transport
