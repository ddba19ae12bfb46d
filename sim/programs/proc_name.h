// Files of proc(5), by their names.
#pragma once

#include <string>

#include "transport/realtime/descriptor.h"

namespace anyrdma::sim::programs {

/// Returns the name of a file in /proc that is world-readable and not writable, relative to its
/// mount, as in another mount namespace. Empty: it is no such file.
[[nodiscard]] std::string name_in_proc(const transport::realtime::Descriptor& descriptor);

}  // namespace anyrdma::sim::programs
