// Lets the simulator decide when the memory operations of a simulated process's device take effect.
#pragma once

#include "verbs/soft/memory_profile.h"

namespace anyrdma::transport {

/// Returns a chooser that asks the simulator for each choice. The object is never destroyed.
[[nodiscard]] verbs::soft::MemoryChooser& memory_of_world();

}  // namespace anyrdma::transport
