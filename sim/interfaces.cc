#include "sim/interfaces.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "sim/host.h"
#include "sim/own_nic.h"
#include "sim/port_name.h"
#include "sim/port_nic.h"
#include "sim/remote_nic.h"
#include "sim/world.h"
#include "verbs/assert.h"

namespace anyrdma::sim {

using transport::soft::DeviceChange;
using transport::soft::Route;

std::string device_name(std::size_t interface) {
  return "anyrdma" + std::to_string(interface);
}

namespace {

/// Whether `name` is "DEVICE/PORT" of the interface's port.
bool is_port(std::string_view name, const Interface& interface) {
  const PortName port(name);
  return port.number == interface.port && interface.nic->name() == port.device;
}

}  // namespace

// --- what there is ------------------------------------------------------------------------------

roce::Mac Interfaces::make_mac(std::size_t interface) const {
  const auto host = static_cast<std::size_t>(host_.index()) + 1;
  return {2,
          0,
          0,
          static_cast<std::uint8_t>(host >> 8),
          static_cast<std::uint8_t>(host),
          static_cast<std::uint8_t>(interface)};
}

void Interfaces::add(const HostOptions& options) {
  all_.reserve(options.interfaces.size());
  for (std::size_t i = 0; i < options.interfaces.size(); ++i) {
    std::uint8_t ports = 1;
    while (i + ports < options.interfaces.size() && options.interfaces[i + ports].port == ports + 1)
      ++ports;
    add(options.interfaces[i], ports);
  }
  for (const std::string& text : options.unreachable) {
    unreachable_.push_back(Prefix::parse(text).value());
  }
}

void Interfaces::add(const InterfaceOptions& options, std::uint8_t ports) {
  const std::size_t index = all_.size();
  Interface& interface = all_.emplace_back();
  interface.name = options.name.empty() ? "eth" + std::to_string(index) : options.name;
  if (options.device && options.device->name != verbs::soft::HcaConfig().name)
    interface.device = options.device->name;
  interface.port = options.port;
  CM_ASSERT(options.port == 1 || (index > 0 && all_[index - 1].port + 1 == options.port));
  interface.mac = make_mac(index);
  interface.bond = options.bond;
  for (const std::string& text : options.addresses) {
    Address& address = interface.prefixes.emplace_back(Prefix::parse(text).value()).address;
    if (address.is_link_local())
      address.scope = static_cast<std::uint32_t>(interface_number(index));
  }
  if (options.rdma && options.port > 1) {
    auto* const first = dynamic_cast<OwnNic*>(all_[index + 1 - options.port].nic.get());
    CM_ASSERT(first != nullptr);
    interface.nic = std::make_unique<PortNic>(host_, index, options.port, *first);
  } else if (options.rdma) {
    interface.nic = std::make_unique<OwnNic>(host_, index, options, ports);
  } else {
    interface.nic = std::make_unique<Nic>(host_, index);
  }
}

const Interface* Interfaces::find(std::string_view interface) const {
  const auto found = std::ranges::find_if(all_, [interface](const Interface& each) {
    return each.name == interface || is_port(interface, each);
  });
  return found == all_.end() ? nullptr : &*found;
}

Interface* Interfaces::find_own(std::string_view interface) {
  return const_cast<Interface*>(find(interface));
}

void Interfaces::set_uplink(std::size_t interface, Uplink* uplink) {
  CM_ASSERT(interface < all_.size());
  std::unique_ptr<Nic>& nic = all_[interface].nic;
  CM_ASSERT(nic->device() == nullptr);
  if (uplink == nullptr) {
    nic = std::make_unique<Nic>(host_, interface);
  } else {
    const std::string& given = all_[interface].device;
    nic = std::make_unique<RemoteNic>(host_, interface, all_[interface].port,
                                      given.empty() ? device_name(interface) : given, *uplink);
  }
}

void Interfaces::send_from(std::size_t interface, const verbs::soft::Packet& packet) {
  CM_ASSERT(interface < all_.size());
  if (host_.power().off()) return;
  World& world = host_.world();
  // A device of our own looks at its port itself.
  if (packet.ip_protocol != 0 && all_[interface].nic->port_is_down())
    return world.drop(host_, nullptr, DropCause::kWrongState, packet);
  world.transmit(host_, interface, world.pool_.copy_of(packet));
}

// --- routes -------------------------------------------------------------------------------------

Result<Route> Interfaces::route(const Address* source, const Address& destination) const {
  if (source != nullptr && !interface_of(*source)) return verbs::errno_code(EADDRNOTAVAIL);
  if (source != nullptr && destination.is_multicast()) {
    return Route{.source = *source,
                 .destination = destination,
                 .next_hop = destination,
                 .interface = *interface_of(*source),
                 .local = false};
  }
  const bool local = interface_of(destination).has_value();
  const int bound = source != nullptr && !local ? *interface_of(*source) : 0;
  const auto reaches = [&](std::size_t interface) {
    return std::ranges::any_of(all_[interface].prefixes,
                               [&](const Prefix& each) { return each.contains(destination); });
  };
  // Of several interfaces in one network it is the one of the source.
  const bool chosen = bound != 0 && reaches(static_cast<std::size_t>(bound) - 1);
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (chosen && interface_number(i) != bound) continue;
    for (const Prefix& prefix : all_[i].prefixes) {
      if (!prefix.contains(destination)) continue;
      return Route{.source = source != nullptr ? *source : prefix.address,
                   .destination = destination,
                   .next_hop = destination,
                   .interface = local ? *interface_of(destination) : interface_number(i),
                   .local = local};
    }
  }
  const bool forbidden =
      std::any_of(unreachable_.begin(), unreachable_.end(),
                  [&](const Prefix& each) { return each.contains(destination); });
  return verbs::errno_code(forbidden ? EHOSTUNREACH : ENETUNREACH);
}

Result<int> Interfaces::interface_of(const Address& local) const {
  for (std::size_t i = 0; i < all_.size(); ++i) {
    for (const Prefix& prefix : all_[i].prefixes) {
      if (prefix.address.same_ip(local)) return interface_number(i);
    }
  }
  return verbs::errno_code(EADDRNOTAVAIL);
}

// --- links --------------------------------------------------------------------------------------

Result<void> Interfaces::fail_over(std::string_view name) {
  Interface* const found = find_own(name);
  if (found == nullptr) return verbs::errno_code(ENODEV);
  if (found->bond.links < 2) return verbs::errno_code(EOPNOTSUPP);
  const std::size_t next = (found->link + std::size_t{1}) % found->bond.links;
  return use_link(*found, static_cast<std::uint8_t>(next));
}

Result<void> Interfaces::fail_back(std::string_view name) {
  Interface* const found = find_own(name);
  if (found == nullptr) return verbs::errno_code(ENODEV);
  if (found->bond.links < 2) return verbs::errno_code(EOPNOTSUPP);
  if (found->link == 0) return verbs::errno_code(EALREADY);
  return use_link(*found, 0);
}

// The bond says where its addresses are now, as Linux does (bonding: num_grat_arp), whether or not
// that is another place.
Result<void> Interfaces::use_link(Interface& interface, std::uint8_t link) {
  interface.link = link;
  if (!interface.bond.keeps_address) interface.mac[1] = link;
  {
    const verbs::CriticalSection section(host_.runtime());
    host_.transport().on_address_change(
        interface_number(static_cast<std::size_t>(&interface - all_.data())));
  }
  // An interface without a device has nobody to tell.
  (void)interface.nic->change({.kind = DeviceChange::Kind::kMoved, .link = interface.link_number()})
      .has_value();
  if (interface.cut) return {};
  for (const Prefix& prefix : interface.prefixes) {
    host_.world().announce(host_, prefix.address, interface.link_number());
  }
  return {};
}

Result<void> Interfaces::set_rail(std::string_view name, bool passes) {
  Interface* const found = find_own(name);
  if (found == nullptr) return verbs::errno_code(ENODEV);
  if (std::exchange(found->cut, !passes) == !passes) return verbs::errno_code(EALREADY);
  return {};
}

Result<void> Interfaces::slow_rail(std::string_view name, Duration delay) {
  Interface* const found = find_own(name);
  if (found == nullptr) return verbs::errno_code(ENODEV);
  if (std::exchange(found->delay, delay) == delay) return verbs::errno_code(EALREADY);
  return {};
}

// --- addresses ----------------------------------------------------------------------------------

Result<void> Interfaces::add_address(std::string_view interface, std::string_view text) {
  Interface* const found = find_own(interface);
  if (found == nullptr) return verbs::errno_code(ENODEV);
  Result<Prefix> prefix = Prefix::parse(text);
  if (!prefix) return prefix.error();
  const auto index = static_cast<std::size_t>(found - all_.data());
  if (prefix->address.is_link_local()) {
    prefix->address.scope = static_cast<std::uint32_t>(interface_number(index));
  }
  if (!host_.world().claim(prefix->address, host_, index)) return verbs::errno_code(EADDRINUSE);
  found->prefixes.push_back(*prefix);
  found->nic->add_address(*prefix);
  return {};
}

Result<void> Interfaces::drop_address(std::string_view interface, std::string_view text) {
  Interface* const found = find_own(interface);
  if (found == nullptr) return verbs::errno_code(ENODEV);
  const Result<Prefix> prefix = Prefix::parse(text);
  if (!prefix) return prefix.error();
  const auto at =
      std::find_if(found->prefixes.begin(), found->prefixes.end(),
                   [&](const auto& own) { return own.address.ip == prefix->address.ip; });
  if (at == found->prefixes.end()) return verbs::errno_code(EADDRNOTAVAIL);
  const Prefix dropped = *at;
  found->prefixes.erase(at);
  host_.world().disown(dropped.address);
  found->nic->drop_address(dropped);
  return {};
}

}  // namespace anyrdma::sim
