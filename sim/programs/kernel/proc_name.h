// Files of proc(5), by their names.
#pragma once

#include <string>

#include "transport/realtime/descriptor.h"

namespace anyrdma::sim::programs {

/// Returns the name, relative to /proc, of the open file, which may belong to the /proc of another
/// mount namespace. Empty: the file is no file without a size in /proc.
[[nodiscard]] std::string name_in_proc(const transport::realtime::Descriptor& descriptor);

/// Returns the target of a symbolic link, such as /proc/17/fd/3. Empty: it has none.
[[nodiscard]] std::string target_of_link(const std::string& link);

}  // namespace anyrdma::sim::programs
