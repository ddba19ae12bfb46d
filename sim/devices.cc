#include "sim/devices.h"

#include <cerrno>
#include <memory>

#include "sim/host.h"
#include "sim/own_nic.h"
#include "sim/port_name.h"

namespace anyrdma::sim {

using transport::soft::DeviceChange;
using Kind = transport::soft::DeviceChange::Kind;

Nic* Devices::find(std::string_view device) const {
  const PortName wanted(device);
  Nic* found = nullptr;
  for (const Interface& each : host_.interfaces()) {
    if (each.nic->name() != wanted.device) continue;
    if (wanted.number != 0 && each.nic->port() != wanted.number) continue;
    if (each.nic->present()) return each.nic.get();
    if (found == nullptr) found = each.nic.get();
  }
  return device.empty() ? nullptr : found;
}

std::vector<std::string> Devices::names() const {
  std::vector<std::string> names;
  for (const Interface& each : host_.interfaces()) {
    if (each.nic->running() != nullptr) names.emplace_back(each.nic->name());
  }
  return names;
}

bool Devices::has(std::string_view device) const {
  const Nic* const found = find(device);
  return found != nullptr && found->present();
}

bool Devices::knows(std::string_view device) const {
  return find(device) != nullptr;
}

Result<void> Devices::change(std::string_view device, const DeviceChange& change) {
  Nic* const found = find(device);
  if (found == nullptr) return verbs::errno_code(ENODEV);
  return found->change(change);
}

Result<void> Devices::remove(std::string_view device) {
  Nic* const found = find(device);
  if (found == nullptr || !found->present()) return verbs::errno_code(ENODEV);
  for (const Interface& each : host_.interfaces()) {
    if (each.nic->name() != found->name() || !each.nic->present()) continue;
    if (Result<void> removed = each.nic->change({.kind = Kind::kRemoved}); !removed) return removed;
  }
  return {};
}

Result<void> Devices::bring_back(std::string_view device, bool new_guid) {
  Nic* const found = find(device);
  if (found == nullptr) return verbs::errno_code(ENODEV);
  if (found->present()) return verbs::errno_code(EEXIST);
  for (const Interface& each : host_.interfaces()) {
    if (each.nic->name() != found->name()) continue;
    if (Result<void> back = each.nic->bring_back(new_guid); !back) return back;
  }
  return {};
}

Result<void> Devices::plug(std::string_view name) {
  Interface* const interface = host_.interfaces().find_own(name);
  if (interface == nullptr) return verbs::errno_code(ENODEV);
  if (!interface->nic->name().empty()) return verbs::errno_code(EEXIST);
  const auto index = static_cast<std::size_t>(interface - &host_.interfaces()[0]);
  interface->nic = std::make_unique<OwnNic>(host_, index, InterfaceOptions{});
  return {};
}

Result<void> Devices::set_port(std::string_view device, bool active) {
  return change(device, {.kind = active ? Kind::kPortUp : Kind::kPortDown});
}

Result<void> Devices::raise_event(std::string_view device, ibv_event_type event) {
  return change(device, {.kind = Kind::kEvent, .event = event});
}

Result<void> Devices::change_object(const DeviceChange& change) {
  for (const Interface& each : host_.interfaces()) {
    if (!each.nic->present()) continue;
    const Result<void> changed = each.nic->change(change);
    if (changed || changed.error().value() != ENOENT) return changed;
  }
  return verbs::errno_code(ENOENT);
}

Result<void> Devices::fail_qp(const verbs::soft::ObjectName& qp, ibv_event_type event) {
  return change_object({.kind = Kind::kQpFailed, .object = qp, .event = event});
}

Result<void> Devices::overrun_cq(std::uint64_t made) {
  return change_object({.kind = Kind::kCqOverrun, .object = {.made = made}});
}

Result<void> Devices::fail_srq(std::uint64_t made) {
  return change_object({.kind = Kind::kSrqFailed, .object = {.made = made}});
}

Result<void> Devices::lose_group(std::string_view text) {
  const Result<Prefix> group = Prefix::parse(text);
  if (!group) return group.error();
  if (change_object({.kind = Kind::kGroupLost, .neighbour = group->address})) return {};
  const verbs::CriticalSection section(host_.runtime());
  if (!host_.transport().on_group_lost(group->address)) return verbs::errno_code(ENOENT);
  return {};
}

}  // namespace anyrdma::sim
