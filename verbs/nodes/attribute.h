// The text of an attribute in /sys/class/infiniband, made from the device's own queries, for
// programs that read these files. It is the text of a virtual device of Linux, such as rxe, where
// rxe has the file.
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

/// The line in the file `name` below the device's folder ("fw_ver", "ports/1/gids/0"), without its
/// end. ENOENT: there is no such file; EINVAL: reading it fails like that, as for the type of an
/// empty GID; others: as the device's queries.
/// Source: Documentation/ABI/stable/sysfs-class-infiniband of Linux.
[[nodiscard]] Result<std::string> attribute(const Asked& asked, std::string_view name);

/// The names of all files that there are.
[[nodiscard]] Result<std::vector<std::string>> attribute_names(const Asked& asked);

}  // namespace anyrdma::verbs::nodes
