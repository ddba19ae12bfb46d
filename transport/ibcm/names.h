// The names of states and events, for traces and tests.
#pragma once

#include <string_view>

#include "transport/ibcm/state_table.h"

namespace anyrdma::ibcm {

/// Returns the state's name in the specification: "MRA_REQ_SENT".
[[nodiscard]] std::string_view to_string(State state);
[[nodiscard]] std::string_view to_string(Event event);
[[nodiscard]] std::string_view to_string(UpcallKind kind);
[[nodiscard]] std::string_view to_string(DropReason reason);

}  // namespace anyrdma::ibcm
