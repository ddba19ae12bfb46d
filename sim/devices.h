// The RDMA devices of a simulated host, and what can happen to them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/nic.h"
#include "transport/soft/device_change.h"
#include "verbs/result.h"
#include "verbs/soft/hca.h"

namespace anyrdma::sim {

using verbs::Result;

class Host;

/// The devices of all interfaces. A parameter `device` is the name of a device, or that of a port
/// ("mlx5_0/2"); the name alone means port 1. Devices of the simulator have the configured name
/// (default: anyrdmaN, N being the number of the interface from 0), those that processes see are
/// anyrdmaN.
class Devices {
 public:
  explicit Devices(Host& host) : host_(host) {}
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;

  /// Returns the names of the simulator's own devices that are not removed.
  [[nodiscard]] std::vector<std::string> names() const;
  /// Whether the device exists and is not removed.
  [[nodiscard]] bool has(std::string_view device) const;
  /// Whether the device exists, or was removed.
  [[nodiscard]] bool knows(std::string_view device) const;

  /// Unplugs a device: its ids get DEVICE_REMOVAL. ENODEV: no such device, or it is already
  /// removed.
  [[nodiscard]] Result<void> remove(std::string_view device);
  /// Plugs a removed device in again, with its limits and GIDs but without its objects. `new_guid`:
  /// it gets another GUID. ENODEV: no device of that name was removed; EEXIST: the device is
  /// present.
  [[nodiscard]] Result<void> bring_back(std::string_view device, bool new_guid = false);
  /// Plugs a device into an interface that never had one. ENODEV: no such interface; EEXIST.
  [[nodiscard]] Result<void> plug(std::string_view interface);
  /// Sets the link of the device's port down or up: PORT_ERR or PORT_ACTIVE follows. Errors:
  /// ENODEV, EALREADY.
  [[nodiscard]] Result<void> set_port(std::string_view device, bool active);
  /// Makes a device raise an asynchronous event; the device continues to work. ENODEV: no such
  /// device.
  [[nodiscard]] Result<void> raise_event(std::string_view device, ibv_event_type event);

  // --- one object -------------------------------------------------------------------------------

  /// Makes a queue pair fail, with the given asynchronous event. Errors: those of
  /// verbs::soft::Hca::fail_qp. If several devices have a queue pair with that number, the first
  /// device's fails. The device that processes see takes every number for one of its own.
  [[nodiscard]] Result<void> fail_qp(const verbs::soft::ObjectName& qp, ibv_event_type event);
  /// Makes a completion queue overrun: the `made`-th one that programs of this host created.
  /// ENOENT: no such queue; EALREADY: already overrun.
  [[nodiscard]] Result<void> overrun_cq(std::uint64_t made);
  /// Makes a shared receive queue fail: the `made`-th one that programs of this host created.
  /// ENOENT: no such queue.
  [[nodiscard]] Result<void> fail_srq(std::uint64_t made);
  /// Removes a multicast group from the network: this host's ids that have joined the group get
  /// MULTICAST_ERROR. EINVAL: not an address; ENOENT: no id has joined it.
  [[nodiscard]] Result<void> lose_group(std::string_view address);

 private:
  friend class OwnNic;
  /// The device of that name, one that is present if there is one. Null: there is none.
  [[nodiscard]] Nic* find(std::string_view device) const;
  [[nodiscard]] Result<void> change(std::string_view device,
                                    const transport::soft::DeviceChange& change);
  /// Of an object, on the first device that has it.
  [[nodiscard]] Result<void> change_object(const transport::soft::DeviceChange& change);

  Host& host_;
  verbs::soft::MadeObjects made_;  ///< on all devices
};

}  // namespace anyrdma::sim
