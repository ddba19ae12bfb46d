#include "sim/remote_nic.h"

#include <cerrno>
#include <cstdint>
#include <utility>

#include "sim/host.h"

namespace anyrdma::sim {

using transport::soft::DeviceChange;
using verbs::Result;

RemoteNic::RemoteNic(Host& host, std::size_t interface, std::uint8_t port, std::string name,
                     Uplink& uplink)
    : Nic(host, interface), port_(port), name_(std::move(name)), uplink_(uplink) {
  past_.addresses = host.interfaces()[interface].prefixes;
}

bool RemoteNic::take(const Host& /*from*/, verbs::soft::PacketPtr&& packet) {
  packet->keep_payload();
  uplink_.on_packet(*packet);
  return false;
}

// An uplink's programs have had theirs: each other's are no business of the world's.
bool RemoteNic::hears_groups(bool own) const {
  return !own;
}

void RemoteNic::on_neighbour(transport::soft::NeighbourToken token, int error) {
  uplink_.on_neighbour(token, error);
}

Result<void> RemoteNic::change(const DeviceChange& change) {
  using Kind = DeviceChange::Kind;
  switch (change.kind) {
    case Kind::kMoved:
    case Kind::kNeighbourMoved:
      break;  // news of the network, which its kernel has without a device
    case Kind::kRemoved:
      if (std::exchange(unplugged_, true)) return verbs::errno_code(ENODEV);
      break;
    case Kind::kPortDown:
    case Kind::kPortUp: {
      if (unplugged_) return verbs::errno_code(ENODEV);
      const bool down = change.kind == Kind::kPortDown;
      if (std::exchange(port_down_, down) == down) return verbs::errno_code(EALREADY);
      break;
    }
    case Kind::kQpFailed:
    case Kind::kCqOverrun:
    case Kind::kSrqFailed:
    case Kind::kEvent:
    case Kind::kGroupLost:
      if (unplugged_) return verbs::errno_code(ENODEV);
      break;
    case Kind::kReturned:
    case Kind::kAddressAdded:
    case Kind::kAddressDropped:
      break;  // not by this function
  }
  uplink_.on_change(change);
  return {};
}

Result<void> RemoteNic::bring_back(bool new_guid) {
  unplugged_ = false;
  port_down_ = false;
  keep({.kind = DeviceChange::Kind::kReturned, .new_guid = new_guid});
  return {};
}

void RemoteNic::keep_address(DeviceChange::Kind kind, const transport::soft::Prefix& prefix) {
  keep({.kind = kind, .neighbour = prefix.address, .bits = static_cast<std::uint8_t>(prefix.bits)});
}

void RemoteNic::keep(const DeviceChange& change) {
  past_.changes.push_back(change);
  uplink_.on_change(change);
}

bool RemoteNic::kill_program(std::string_view name, std::uint32_t number) {
  return uplink_.on_kill_program(name, number);
}

std::optional<bool> RemoteNic::pause_program(const Uplink::Threads& threads, bool paused) {
  return uplink_.on_pause_program(threads, paused);
}

void RemoteNic::on_opened(fault::Question& question) const {
  const std::uint32_t bit = std::uint32_t{1} << interface_;
  if (unplugged_) question.removed |= bit;
  if (port_down_) question.ports_down |= bit;
  question.changes += static_cast<std::uint32_t>(past_.changes.size());
}

}  // namespace anyrdma::sim
