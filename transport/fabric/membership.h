// Derives the mesh's configuration from a place in the registry.
#pragma once

#include "transport/fabric/mesh.h"
#include "transport/fabric/rendezvous/config.h"
#include "transport/fabric/rendezvous/registry.h"

namespace anyrdma::transport::fabric {

/// The mesh of that member.
[[nodiscard]] inline MeshConfig mesh_config(const FabricConfig& config, const Registry& registry) {
  return {.uid = config.uid,
          .directory = registry.directory().fd(),
          .path = registry.directory().path(),
          .name = registry.socket_stem(),
          .self = registry.slot(),
          .incarnation = registry.incarnation()};
}

}  // namespace anyrdma::transport::fabric
