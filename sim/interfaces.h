// The network interfaces of a simulated host, and their addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/nic.h"
#include "sim/options.h"
#include "transport/soft/network.h"
#include "transport/soft/prefix.h"
#include "verbs/assert.h"
#include "verbs/result.h"
#include "verbs/soft/frame.h"

namespace anyrdma::sim {

using transport::soft::Address;
using transport::soft::Prefix;
using verbs::Result;

class Host;

/// Returns the number, from 1, by which the transport and the scope of a link-local address
/// identify an interface. `interface`: its number from 0.
[[nodiscard]] constexpr int interface_number(std::size_t interface) {
  return static_cast<int>(interface) + 1;
}
/// Returns the name of an interface's device unless it was given another one: "anyrdma0".
[[nodiscard]] std::string device_name(std::size_t interface);

struct Interface {
  std::string name;
  std::string device;     ///< the name of its RDMA device, if it was given one
  std::uint8_t port = 1;  ///< the number of the device's port
  roce::Mac mac{};        ///< of the link that is used
  BondOptions bond{};
  std::uint8_t link = 0;  ///< which one that is
  bool cut = false;       ///< nothing passes
  Duration delay{};       ///< by which its packets take longer
  std::vector<Prefix> prefixes;
  std::unique_ptr<Nic> nic;  ///< never null

  /// The link address as another host sees it.
  [[nodiscard]] transport::soft::LinkNumber link_number() const {
    return transport::soft::LinkNumber{bond.keeps_address ? 0u : link};
  }
};

/// All interfaces of a host, by their number from 0. Parameters `interface` that are strings are
/// names of interfaces.
class Interfaces {
 public:
  explicit Interfaces(Host& host) : host_(host) {}
  Interfaces(const Interfaces&) = delete;
  Interfaces& operator=(const Interfaces&) = delete;

  [[nodiscard]] std::size_t size() const { return all_.size(); }
  /// Precondition: there is such an interface.
  [[nodiscard]] const Interface& operator[](std::size_t interface) const {
    CM_ASSERT(interface < all_.size());
    return all_[interface];
  }
  [[nodiscard]] auto begin() const { return all_.begin(); }
  [[nodiscard]] auto end() const { return all_.end(); }
  /// An interface and its host.
  struct Place {
    const Host& host;
    const Interface& interface;
  };
  /// Precondition: there is such an interface.
  [[nodiscard]] Place at(std::size_t interface) const { return {host_, (*this)[interface]}; }
  /// Returns the interface of that name, or that carries the port ("mlx5_0/2") of a device. Null:
  /// there is none.
  [[nodiscard]] const Interface* find(std::string_view interface) const;

  // --- addresses --------------------------------------------------------------------------------

  /// Adds an address ("192.0.2.9/24") to an interface, and a GID to its device: GID_CHANGE. ENODEV:
  /// no such interface; EINVAL: no address; EADDRINUSE: some host has it.
  [[nodiscard]] Result<void> add_address(std::string_view interface, std::string_view prefix);
  /// Removes an address from the interface, and its GID from the device: GID_CHANGE follows.
  /// Packets to that address are lost; ids keep it. ENODEV: no such interface; EINVAL: not an
  /// address; EADDRNOTAVAIL: the interface does not have it.
  [[nodiscard]] Result<void> drop_address(std::string_view interface, std::string_view address);
  /// Switches a bonded interface to its next link and that link's address (fail_over; after the
  /// last link comes the first), or back to the first link (fail_back). Ids on the interface that
  /// use another link address get ADDR_CHANGE; active ids of neighbours that use another one get
  /// UNREACHABLE. ENODEV: no such interface; EOPNOTSUPP: not a bond; EALREADY: the first link is
  /// already in use.
  [[nodiscard]] Result<void> fail_over(std::string_view interface);
  [[nodiscard]] Result<void> fail_back(std::string_view interface);
  /// Cuts an interface off (`passes` false): it loses all packets in both directions, and finds no
  /// neighbours; or ends that. The link of its port stays up. ENODEV: no such interface; EALREADY:
  /// already in that state.
  [[nodiscard]] Result<void> set_rail(std::string_view interface, bool passes);

  /// Makes all packets that an interface sends or receives take `delay` longer; 0: no longer.
  /// ENODEV: no such interface; EALREADY: it does that already.
  [[nodiscard]] Result<void> slow_rail(std::string_view interface, Duration delay);

  // --- for gateways, and for the host's kernel --------------------------------------------------

  /// Directs packets that arrive at an interface to `uplink`, which must outlive the host or be set
  /// to null before. Precondition: the interface has no device of the simulator.
  void set_uplink(std::size_t interface, Uplink* uplink);
  /// Sends a copy of a packet from an interface. Links, faults, capture and trace treat it like any
  /// other packet. The packet is lost if the host is off, or if it is not an RDMA packet and the
  /// port is down.
  void send_from(std::size_t interface, const verbs::soft::Packet& packet);
  /// As transport::soft::Network.
  [[nodiscard]] Result<transport::soft::Route> route(const Address* source,
                                                     const Address& destination) const;
  /// As transport::soft::Network: the interface's number from 1.
  [[nodiscard]] Result<int> interface_of(const Address& local) const;

 private:
  friend class Devices;
  friend class Host;
  void add(const HostOptions& options);
  /// `ports`: the number of ports of the device whose port 1 the interface carries.
  void add(const InterfaceOptions& options, std::uint8_t ports);
  [[nodiscard]] roce::Mac make_mac(std::size_t interface) const;
  [[nodiscard]] Interface* find_own(std::string_view interface);
  [[nodiscard]] Result<void> use_link(Interface& interface, std::uint8_t link);

  Host& host_;
  std::vector<Interface> all_;
  std::vector<Prefix> unreachable_;
};

}  // namespace anyrdma::sim
