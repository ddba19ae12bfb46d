// Makes the files of RDMA devices in Linux's /sys and /dev. The simulator writes the files to
// another directory (sim/machines/file_tree.h), and libanyrdma-nodes.so redirects programs to that
// directory (verbs/c_api/device_nodes.cc).
#pragma once

#include <infiniband/verbs.h>

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "verbs/provider.h"
#include "verbs/result.h"

namespace anyrdma::verbs::nodes {

/// The content of each file, by the path of the file. The path of an empty folder ends with a
/// slash. Files below /dev are device nodes.
using Files = std::map<std::string, std::string>;

struct Shown {
  Provider& provider;
  ibv_device& device;
  std::vector<std::string> interfaces;  ///< the names of the network interfaces of its ports
};

/// Returns the name of the network interface that has the address of a GID; empty: there is no such
/// interface.
using InterfaceWith = std::function<std::string(const ibv_gid&)>;

/// Returns the files of `devices`, in that order, with their present content. Errors: those of
/// Provider's open_device and its queries. Call this function outside of the runtime's critical
/// section.
[[nodiscard]] Result<Files> files_of(std::span<const Shown> devices, const InterfaceWith& with);

}  // namespace anyrdma::verbs::nodes
