// The transports in real time, by name. Apart from open.h for what must not bring the simulator
// along: the drop-in libraries.
#pragma once

#include <string>
#include <string_view>

#include "transport/fault/part.h"
#include "transport/open/opened.h"

namespace anyrdma::transport {

/// Opens any transport of open.h but "sim", with the same errors. EINVAL: "sim", or no such name.
[[nodiscard]] OpenResult open_real(std::string_view name, const OpenOptions& options);

/// Why open_real() knows no such name, in a sentence; empty: it does.
[[nodiscard]] std::string why_not_real(std::string_view name);

/// What faults a transport can have, by the name it is opened by.
[[nodiscard]] fault::Abilities fault_abilities(std::string_view transport);

}  // namespace anyrdma::transport
