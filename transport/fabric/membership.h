// Makes the configuration of the links between processes (Mesh) from the process's registration
// (Registry).
#pragma once

#include "transport/fabric/mesh.h"
#include "transport/fabric/rendezvous/config.h"
#include "transport/fabric/rendezvous/registry.h"

namespace anyrdma::transport::fabric {

/// Returns the Mesh configuration of the process that `registry` belongs to.
[[nodiscard]] inline MeshConfig mesh_config(const FabricConfig& config, const Registry& registry) {
  return {.uid = config.uid,
          .directory = registry.directory().fd(),
          .path = registry.directory().path(),
          .name = registry.socket_stem(),
          .self = registry.slot(),
          .incarnation = registry.incarnation()};
}

}  // namespace anyrdma::transport::fabric
