// The configuration of a fabric: the transport between processes of one machine.
#pragma once

#include <infiniband/verbs.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "transport/ibcm/profile.h"
#include "transport/soft/prefix.h"
#include "verbs/soft/hca.h"

namespace anyrdma::transport::fabric {

/// A network interface of a host behind a gateway, and the port of an RDMA device that belongs to
/// it.
struct Rail {
  std::vector<soft::Prefix> addresses;
  std::string device;     ///< the name of the device
  std::uint8_t port = 1;  ///< 2 and higher: a port of the device of the rail before
};
/// The largest number of rails of a host.
inline constexpr std::size_t kRailsMax = 16;

/// The configuration of a fabric. Processes with equal uid, name and directory, in one mount
/// namespace, join the same fabric. The transport reads nothing from the environment; its caller
/// (the C API, a tool) fills in this struct.
struct FabricConfig {
  /// The fabric's name: 1 to 64 letters, digits, '.', '_' or '-', not starting with '.'.
  std::string name = "default";
  /// The user to whom all processes of the fabric belong. Only the caller's effective user is
  /// accepted.
  uid_t uid = ::geteuid();
  /// The directory, as an absolute path, in which the fabric's own directory is made. A file system
  /// in memory is best. Empty: the first usable one of /run/user/UID, /dev/shm and /tmp (place.h).
  std::string directory{};
  /// The link layer that the device's port reports (verbs::soft::HcaConfig). Processes of one
  /// fabric may report different ones.
  std::uint8_t link_layer = IBV_LINK_LAYER_ETHERNET;
  /// The limits of the device and the features that it lacks, which verbs::soft::resemble can set
  /// as on another device.
  verbs::soft::HcaConfig device{};
  /// The GID that is reached at LID 1, the one at LID 2, and so on, for ports whose link layer is
  /// InfiniBand. Empty: the LID of a port is its number, and packets to a LID stay in the device.
  std::vector<ibv_gid> lids{};
  /// The timing constants of the CM protocol, which are those of one Linux version.
  ibcm::Profile profile = ibcm::kLinux61;
  /// The host's interfaces, at most kRailsMax, if a gateway connects this fabric to fabrics of
  /// other hosts (outside.h). Empty: one device with the machine's addresses, and no gateway. All
  /// processes of a fabric must have equal values.
  std::vector<Rail> rails{};
  /// The number of devices of a fabric without a gateway, at most kRailsMax. The first has all
  /// addresses of the machine. Each further device has one address of its own, 127.0.NUMBER.1, with
  /// its number from 1. All processes of a fabric must have equal values.
  std::size_t devices = 1;
  /// Whether operations on another process's memory use direct access instead of packets where
  /// possible (docs/transports.md).
  bool near_memory = true;
  /// The memory order that the device guarantees (docs/memory.md), and below it the object that
  /// chooses among the allowed orders. If the object is null, the order is strict. With an object,
  /// every operation uses packets. The object must outlive the fabric.
  verbs::soft::MemoryProfile memory = verbs::soft::MemoryProfile::kStrict;
  verbs::soft::MemoryChooser* memory_chooser = nullptr;
};

}  // namespace anyrdma::transport::fabric
