// Makes the text of files in /sys/class/infiniband from queries of the device, for programs that
// read these files. If Linux's rxe has a file, the text has the form of rxe's.
#pragma once

#include <infiniband/verbs.h>

#include <string>
#include <string_view>
#include <vector>

#include "verbs/provider.h"
#include "verbs/result.h"

namespace anyrdma::verbs::nodes {

/// A device that is open during the query.
struct Asked {
  Provider& provider;
  ibv_device& device;
  ibv_context* context;
};

/// Returns the text of the file `name` in the device's folder, such as "fw_ver" or
/// "ports/1/gids/0", without newline. ENOENT: no such file; EINVAL: reading the file fails with
/// EINVAL on Linux, too, as for the type of an empty GID. Other errors are those of the device's
/// queries. Source: Documentation/ABI/stable/sysfs-class-infiniband of Linux.
[[nodiscard]] Result<std::string> attribute(const Asked& asked, std::string_view name);

/// Returns the names of all files that the device has.
[[nodiscard]] Result<std::vector<std::string>> attribute_names(const Asked& asked);

}  // namespace anyrdma::verbs::nodes
