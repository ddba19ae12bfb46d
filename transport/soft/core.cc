#include "transport/soft/core.h"

#include <algorithm>

#include "transport/soft/address.h"
#include "transport/soft/endpoint.h"
#include "verbs/assert.h"

namespace anyrdma::transport::soft {
namespace {

bool is_empty(const ibv_gid& gid) {
  return gid.global.subnet_prefix == 0 && gid.global.interface_id == 0;
}

void erase(std::vector<SoftEndpoint*>& listeners, SoftEndpoint& listener) {
  const auto at = std::find(listeners.begin(), listeners.end(), &listener);
  CM_ASSERT(at != listeners.end());
  listeners.erase(at);
}

}  // namespace

ibv_context* Device::context_of(const void* process) const {
  if (first_port != nullptr) return first_port->context_of(process);
  for (const auto& [owner, own] : own_contexts) {
    if (owner == process) return own;
  }
  return context;
}

int Device::index_of(std::span<const std::uint8_t, 16> gid) const {
  const std::span<const ibv_gid> table = hca.gids_of(port);
  if (gid[0] == 0 && std::ranges::all_of(gid, [](std::uint8_t byte) { return byte == 0; })) {
    return -1;  // what an empty place of the table holds
  }
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (std::equal(gid.begin(), gid.end(), table[i].raw)) return static_cast<int>(i);
  }
  return -1;
}

const ibv_gid* Device::first_gid(sa_family_t family) const {
  const ibv_gid* first = nullptr;
  for (const ibv_gid& gid : hca.gids_of(port)) {
    if (is_empty(gid)) continue;
    if (Address::from_gid(gid).family == family) return &gid;
    if (first == nullptr) first = &gid;
  }
  return first;
}

Pending PendingQueue::pop() {
  CM_ASSERT(!empty());
  const Pending event = events_[head_++];
  if (empty()) {
    events_.clear();
    head_ = 0;
  }
  return event;
}

void ListenerTable::add(ibcm::ServiceId service, SoftEndpoint& listener) {
  by_service_[wire::value(service)].push_back(&listener);
  if (listener.is_wildcard()) wildcards_.push_back(&listener);
}

void ListenerTable::remove(ibcm::ServiceId service, SoftEndpoint& listener) {
  const auto found = by_service_.find(wire::value(service));
  CM_ASSERT(found != by_service_.end());
  erase(found->second, listener);
  if (found->second.empty()) by_service_.erase(found);
  if (listener.is_wildcard()) erase(wildcards_, listener);
}

std::span<SoftEndpoint* const> ListenerTable::of(ibcm::ServiceId service) const {
  const auto found = by_service_.find(wire::value(service));
  if (found == by_service_.end()) return {};
  return found->second;
}

Device* Core::device_on(int interface) const {
  for (const auto& device : devices) {
    if (device->interface == interface) return device.get();
  }
  return nullptr;
}

Device* Core::loopback_device() const {
  for (const auto& device : devices) {
    if (device->hca.state_of(device->port) == IBV_PORT_ACTIVE) return device.get();
  }
  return devices.empty() ? nullptr : devices.front().get();
}

bool Core::owns(std::span<const std::uint8_t, 16> gid) const {
  return std::any_of(devices.begin(), devices.end(),
                     [gid](const auto& device) { return device->index_of(gid) >= 0; });
}

}  // namespace anyrdma::transport::soft
