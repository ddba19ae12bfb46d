// Memory operations of a simulated process's device: the world decides when they take effect.
#pragma once

#include "verbs/soft/memory_profile.h"

namespace anyrdma::transport {

/// Returns a chooser that asks the world for each choice. Never destroyed.
[[nodiscard]] verbs::soft::MemoryChooser& memory_of_world();

}  // namespace anyrdma::transport
