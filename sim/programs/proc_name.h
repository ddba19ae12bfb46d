// Files of proc(5), by their names.
#pragma once

#include <string>

#include "transport/realtime/descriptor.h"

namespace anyrdma::sim::programs {

/// Of a file that anybody may read and nobody write, as of another mount namespace: it begins
/// anywhere. Empty: it is no such file.
[[nodiscard]] std::string name_in_proc(const transport::realtime::Descriptor& descriptor);

}  // namespace anyrdma::sim::programs
