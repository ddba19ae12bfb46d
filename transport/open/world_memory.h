// What a simulated process's device does to memory, and when: the world decides.
#pragma once

#include "verbs/soft/memory_profile.h"

namespace anyrdma::transport {

/// Asks the world for each choice. Lives for ever.
[[nodiscard]] verbs::soft::MemoryChooser& memory_of_world();

}  // namespace anyrdma::transport
