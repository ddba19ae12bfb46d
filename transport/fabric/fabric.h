// Real time: one process's share in a host that all processes of one user and one fabric name form
// on a machine. The host has one device, anyrdma0, and the machine's own addresses; processes
// exchange RoCE packets over Unix sockets. No daemon: the first process makes the rendezvous file,
// the last one removes it.
#pragma once

#include <memory>

#include "transport/fabric/rendezvous/config.h"
#include "transport/fabric/rendezvous/error.h"
#include "transport/station/station.h"
#include "verbs/result.h"

namespace anyrdma::transport::fabric {

using verbs::Result;

/// Joined from open() until retire() or destruction. A process may join several fabrics, or one
/// fabric several times: each is a member of its own with objects of its own. retire() removes the
/// rendezvous file if no other process is there; peers see the connections end.
class Fabric : public station::Station {
 public:
  /// Joins, and starts the background thread. Errors: FabricErrc; explain() words them, errno_of()
  /// numbers them.
  [[nodiscard]] static Result<std::unique_ptr<Fabric>> open(const FabricConfig& config = {});
};

}  // namespace anyrdma::transport::fabric
