// Applies changes of a host's addresses to a process on that host, or to a model of its devices.
#pragma once

#include <cstddef>

#include "transport/fabric/outside.h"
#include "transport/soft/device_change.h"
#include "verbs/soft/hca.h"

namespace anyrdma::transport::fabric {

/// Applies the change kAddressAdded or kAddressDropped to the network and to the GID table of a
/// rail's device. As on Linux, a new GID gets the first empty index, and a removed GID leaves its
/// index empty, so that all other indices stay as they are. If the table is full, the new address
/// has no GID. A change that was made already has no effect. Call it inside the critical section
/// (verbs::Runtime::enter).
void change_address(Outside& outside, verbs::soft::Hca& hca, const soft::DeviceChange& change,
                    std::size_t rail);

}  // namespace anyrdma::transport::fabric
