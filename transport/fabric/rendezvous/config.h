// The configuration of a fabric.
#pragma once

#include <infiniband/verbs.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "transport/ibcm/profile.h"
#include "transport/soft/prefix.h"
#include "verbs/soft/hca.h"

namespace anyrdma::transport::fabric {

/// Processes with equal uid, name and directory, in one mount namespace, meet. Nothing here is read
/// from the environment; the caller (the C API, a tool) does that.
struct FabricConfig {
  /// 1 to 64 letters, digits, '.', '_' or '-', not starting with '.'.
  std::string name = "default";
  /// The user to whom all members belong; only the caller's effective user works.
  uid_t uid = ::geteuid();
  /// In which directory the one for the rendezvous is made, best in memory; a whole path. Empty:
  /// the first of /run/user/UID, /dev/shm and /tmp that will do (place.h).
  std::string directory{};
  /// The link layer that the device's port reports (verbs::soft::HcaConfig); each process has its
  /// own.
  std::uint8_t link_layer = IBV_LINK_LAYER_ETHERNET;
  /// Limits of the device, and features that it lacks (verbs::soft::resemble).
  verbs::soft::HcaConfig device{};
  /// Timing constants of the Linux version to resemble.
  ibcm::Profile profile = ibcm::kLinux61;
  /// The host's addresses where a gateway connects this fabric to those of other hosts (outside.h).
  /// Empty: the machine's own, and no gateway. No fabric has members of both kinds.
  std::vector<soft::Prefix> addresses{};
  /// Whether RDMA is done without packets where that can be done (docs/transports.md).
  bool near_memory = true;
  /// The memory order that the device guarantees (docs/memory.md), and the object that decides
  /// within it. Null: strict. With an object, every operation uses packets. It must outlive the
  /// fabric.
  verbs::soft::MemoryProfile memory = verbs::soft::MemoryProfile::kStrict;
  verbs::soft::MemoryChooser* memory_chooser = nullptr;
};

}  // namespace anyrdma::transport::fabric
