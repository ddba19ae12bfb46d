// The RDMA device of one network interface of a simulated host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/uplink.h"
#include "transport/fault/plan/question.h"
#include "transport/soft/device_change.h"
#include "transport/soft/network.h"
#include "transport/soft/prefix.h"
#include "verbs/result.h"
#include "verbs/soft/hca.h"
#include "verbs/soft/packet.h"

namespace anyrdma::sim {

class Host;

/// The device of an interface. OwnNic is a device of the simulator, RemoteNic the device that the
/// processes of the host see. This class itself is an interface without a device: packets are
/// lost, and changes fail with ENODEV.
class Nic {
 public:
  /// `interface`: the number of the interface, from 0.
  Nic(Host& host, std::size_t interface) : host_(host), interface_(interface) {}
  virtual ~Nic() = default;
  Nic(const Nic&) = delete;
  Nic& operator=(const Nic&) = delete;

  /// Returns the name of the device, for example "anyrdma0". Empty: there never was a device.
  [[nodiscard]] virtual std::string_view name() const { return {}; }
  /// Returns the number of the device's port that the interface carries.
  [[nodiscard]] virtual std::uint8_t port() const { return 1; }
  /// Whether there is a device that has not been removed.
  [[nodiscard]] virtual bool present() const { return false; }
  /// Returns the simulator's own device, also if it was removed. Null: there is none.
  [[nodiscard]] virtual verbs::soft::Hca* device() const { return nullptr; }
  /// Returns the simulator's own device if it is present and the interface carries its port 1: the
  /// host sends the packets of all its ports, and runs its timers. Null: there is none.
  [[nodiscard]] verbs::soft::Hca* running() const { return running_; }
  [[nodiscard]] virtual bool port_is_down() const { return false; }

  // --- packets ----------------------------------------------------------------------------------

  /// Receives an RDMA packet. Returns true if the simulator's own device received it; then the
  /// caller must leave the host's critical section, once for all packets that arrive together.
  [[nodiscard]] virtual bool take(const Host& from, verbs::soft::PacketPtr&& packet);
  /// Whether the device receives packets to multicast groups. `own`: packets that the same
  /// interface has sent.
  [[nodiscard]] virtual bool hears_groups(bool /*own*/) const { return false; }
  /// Answers Neighbours::ask().
  virtual void on_neighbour(transport::soft::NeighbourToken /*token*/, int /*error*/) {}

  // --- faults -----------------------------------------------------------------------------------

  /// Makes the device change. ENODEV: the device is not present; EALREADY: the port is in that
  /// state already; ENOENT: no such object, or the device does not know of groups; else errors of
  /// verbs::soft::Hca.
  [[nodiscard]] virtual verbs::Result<void> change(const transport::soft::DeviceChange& change);
  /// Returns a removed device without its objects. ENODEV: it cannot return.
  [[nodiscard]] virtual verbs::Result<void> bring_back(bool new_guid);
  /// The interface has got or lost an address: the device's GID table follows.
  virtual void add_address(const transport::soft::Prefix& /*prefix*/) {}
  virtual void drop_address(const transport::soft::Prefix& /*prefix*/) {}

  // --- power ------------------------------------------------------------------------------------

  /// The host has lost its power.
  virtual void on_crash() {}
  /// The host's programs are killed, and the host stays on.
  virtual void on_kill() {}
  /// The host has a new kernel, without the objects of the old one.
  virtual void start_anew() {}
  /// As in Uplink.
  [[nodiscard]] virtual bool kill_program(std::string_view /*name*/, std::uint32_t /*number*/) {
    return false;
  }
  [[nodiscard]] virtual std::optional<bool> pause_program(const Uplink::Threads& /*threads*/,
                                                          bool /*paused*/) {
    return std::nullopt;
  }

  // --- programs ---------------------------------------------------------------------------------

  /// Whether the programs of the host are processes, which send their packets through an uplink.
  [[nodiscard]] virtual bool has_processes() const { return false; }
  /// Fills in what a process that opens the device finds: whether it is there, and the state of its
  /// port.
  virtual void on_opened(fault::Question& /*question*/) const {}
  /// The changes that a process applies to its own part of the device when it opens the device.
  struct Past {
    std::vector<transport::soft::Prefix> addresses;      ///< those at first
    std::vector<transport::soft::DeviceChange> changes;  ///< of the device since then
  };
  /// Null: no process opens the device.
  [[nodiscard]] virtual const Past* past() const { return nullptr; }

 protected:
  Host& host_;
  std::size_t interface_;
  verbs::soft::Hca* running_ = nullptr;
};

}  // namespace anyrdma::sim
