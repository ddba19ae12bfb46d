// The same-host transport "fabric". All processes of one user that name the same fabric form one
// host, with one device, anyrdma0, and the machine's own addresses. They exchange RoCE packets
// through Unix sockets and shared memory. No daemon is needed: the first process creates the
// rendezvous file, and the last one removes it.
#pragma once

#include <memory>

#include "transport/fabric/rendezvous/config.h"
#include "transport/fabric/rendezvous/error.h"
#include "transport/station/station.h"
#include "verbs/result.h"

namespace anyrdma::transport::fabric {

using verbs::Result;

/// One process's membership in a fabric, from open() until retire() or destruction. A process may
/// join several fabrics, or one fabric several times; each membership has its own objects. retire()
/// removes the rendezvous file if no other process uses it. Peers then see the connections end.
class Fabric : public station::Station {
 public:
  /// Joins the fabric and starts the background thread. Errors: FabricErrc; explain() returns a
  /// sentence, errno_of() an errno value.
  [[nodiscard]] static Result<std::unique_ptr<Fabric>> open(const FabricConfig& config = {});
};

}  // namespace anyrdma::transport::fabric
