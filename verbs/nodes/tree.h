// Linux's files of RDMA devices in /sys and /dev. They are written somewhere else
// (sim/machines/file_tree.h), and libanyrdma-nodes.so leads programs there
// (verbs/c_api/device_nodes.cc).
#pragma once

#include <infiniband/verbs.h>

#include <functional>
#include <map>
#include <span>
#include <string>

#include "verbs/provider.h"
#include "verbs/result.h"

namespace anyrdma::verbs::nodes {

/// The content of each file, by its path. The path of an empty folder ends with a slash. Files
/// below /dev are device nodes.
using Files = std::map<std::string, std::string>;

struct Shown {
  Provider& provider;
  ibv_device& device;
};

/// The network interfaces that there are beside the devices.
struct Interfaces {
  /// Empty: no interface has that address.
  std::function<std::string(const ibv_gid&)> with;
  /// The one that a device is on.
  std::string main;
};

/// The files of these devices, in that order, as they are now. Errors of Provider's open_device and
/// its queries. Outside the critical section.
[[nodiscard]] Result<Files> files_of(std::span<const Shown> devices, const Interfaces& interfaces);

}  // namespace anyrdma::verbs::nodes
