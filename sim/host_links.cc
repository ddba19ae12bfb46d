// A host's link addresses: those of its own bonds, and what it has heard of its neighbours'.
#include <algorithm>
#include <cerrno>
#include <utility>

#include "sim/host_tasks.h"
#include "sim/world.h"
#include "verbs/assert.h"

namespace anyrdma::sim {

using transport::soft::DeviceChange;
using transport::soft::LinkNumber;

// --- its own ------------------------------------------------------------------------------------

LinkNumber Host::link_of(const Interface& interface) {
  return LinkNumber{interface.bond.keeps_address ? 0u : interface.link};
}

LinkNumber Host::link_of(int interface) const {
  return link_of(interfaces_[static_cast<std::size_t>(interface) - 1]);
}

Result<void> Host::fail_over(std::string_view name) {
  Interface* const found = find_interface(name);
  if (found == nullptr) return verbs::errno_code(ENODEV);
  if (found->bond.links < 2) return verbs::errno_code(EOPNOTSUPP);
  const std::size_t next = (found->link + std::size_t{1}) % found->bond.links;
  return use_link(*found, static_cast<std::uint8_t>(next));
}

Result<void> Host::fail_back(std::string_view name) {
  Interface* const found = find_interface(name);
  if (found == nullptr) return verbs::errno_code(ENODEV);
  if (found->bond.links < 2) return verbs::errno_code(EOPNOTSUPP);
  if (found->link == 0) return verbs::errno_code(EALREADY);
  return use_link(*found, 0);
}

// The bond says where its addresses are now, as Linux does (bonding: num_grat_arp), whether or not
// that is another place.
Result<void> Host::use_link(Interface& interface, std::uint8_t link) {
  interface.link = link;
  if (!interface.bond.keeps_address) interface.mac[1] = link;
  {
    verbs::CriticalSection section(*this);
    transport_->on_address_change(
        number_of(static_cast<std::size_t>(&interface - interfaces_.data())));
  }
  if (interface.uplink != nullptr) {
    interface.uplink->on_change({.kind = DeviceChange::Kind::kMoved, .link = link_of(interface)});
  }
  if (interface.cut) return {};
  for (const Prefix& prefix : interface.prefixes) {
    world_.announce(*this, prefix.address, link_of(interface));
  }
  return {};
}

Result<void> Host::set_rail(std::string_view name, bool passes) {
  Interface* const found = find_interface(name);
  if (found == nullptr) return verbs::errno_code(ENODEV);
  if (std::exchange(found->cut, !passes) == !passes) return verbs::errno_code(EALREADY);
  return {};
}

// --- its neighbours' ----------------------------------------------------------------------------

LinkNumber Host::link_of(int interface, const Address& neighbour) const {
  const auto found = neighbours_.find(neighbour.ip);
  if (found == neighbours_.end() || found->second.interface != interface) return {};
  return found->second.link;
}

void Host::tell_of(const Address& neighbour, const Neighbour& known) {
  Address here = neighbour;
  if (here.is_link_local()) here.scope = static_cast<std::uint32_t>(known.interface);
  transport_->on_neighbour_changed(known.interface, here);
  Uplink* const uplink = interfaces_[static_cast<std::size_t>(known.interface) - 1].uplink;
  if (uplink != nullptr) {
    uplink->on_change(
        {.kind = DeviceChange::Kind::kNeighbourMoved, .neighbour = neighbour, .link = known.link});
  }
}

void Host::on_neighbour_moved(const Address& neighbour, LinkNumber link) {
  const auto known = neighbours_.find(neighbour.ip);
  if (known == neighbours_.end() || !known->second.known || !running()) return;
  if (interfaces_[static_cast<std::size_t>(known->second.interface) - 1].cut) return;
  known->second.link = link;
  verbs::CriticalSection section(*this);
  tell_of(neighbour, known->second);
}

Host::Neighbour* Host::find_neighbour(std::string_view address, Address& neighbour) {
  const Result<Prefix> prefix = Prefix::parse(address);
  if (!prefix) return nullptr;
  neighbour = prefix->address;
  const auto found = neighbours_.find(neighbour.ip);
  return found == neighbours_.end() || !found->second.known ? nullptr : &found->second;
}

Result<void> Host::confirm_neighbour(std::string_view address) {
  Address neighbour;
  Neighbour* const known = find_neighbour(address, neighbour);
  if (known == nullptr) return verbs::errno_code(ENOENT);
  if (!answers(neighbour, known->interface)) return forget_neighbour(address);
  const World::Owner& owner = *world_.owner_of(neighbour.ip);
  on_neighbour_moved(neighbour, link_of(owner.host->interfaces_[owner.interface]));
  return {};
}

// What it was is in the news of its end.
Result<void> Host::forget_neighbour(std::string_view address) {
  Address neighbour;
  Neighbour* const known = find_neighbour(address, neighbour);
  if (known == nullptr) return verbs::errno_code(ENOENT);
  known->known = false;
  verbs::CriticalSection section(*this);
  tell_of(neighbour, *known);
  return {};
}

}  // namespace anyrdma::sim
