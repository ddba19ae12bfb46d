// The configuration of a fabric, the transport between processes of one machine.
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

/// Processes with equal uid, name and directory, in one mount namespace, join the same fabric. The
/// transport reads nothing from the environment; the caller (the C API, a tool) fills in this
/// struct.
struct FabricConfig {
  /// 1 to 64 letters, digits, '.', '_' or '-', not starting with '.'.
  std::string name = "default";
  /// The user to whom all members belong; only the caller's effective user works.
  uid_t uid = ::geteuid();
  /// The directory in which the fabric's own directory is made, as an absolute path; best in
  /// memory. Empty: the first usable one of /run/user/UID, /dev/shm and /tmp (place.h).
  std::string directory{};
  /// The link layer that the device's port reports (verbs::soft::HcaConfig). It may differ between
  /// processes.
  std::uint8_t link_layer = IBV_LINK_LAYER_ETHERNET;
  /// Limits of the device, and features that it lacks (verbs::soft::resemble).
  verbs::soft::HcaConfig device{};
  /// Timing constants of the Linux version to resemble.
  ibcm::Profile profile = ibcm::kLinux61;
  /// The host's addresses, if a gateway connects this fabric to those of other hosts (outside.h).
  /// Empty: the machine's addresses, and no gateway. All processes of a fabric must agree.
  std::vector<soft::Prefix> addresses{};
  /// Whether RDMA is done without packets if possible (docs/transports.md).
  bool near_memory = true;
  /// The memory order that the device guarantees (docs/memory.md), and the object that chooses
  /// among the allowed orders. Null: strict. With an object, every operation uses packets. It must
  /// outlive the fabric.
  verbs::soft::MemoryProfile memory = verbs::soft::MemoryProfile::kStrict;
  verbs::soft::MemoryChooser* memory_chooser = nullptr;
};

}  // namespace anyrdma::transport::fabric
