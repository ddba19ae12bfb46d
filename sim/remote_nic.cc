#include "sim/remote_nic.h"

#include <cerrno>
#include <utility>

#include "sim/interfaces.h"

namespace anyrdma::sim {

using transport::soft::DeviceChange;
using verbs::Result;

RemoteNic::RemoteNic(Host& host, std::size_t interface, std::string name, Uplink& uplink)
    : Nic(host, interface), name_(std::move(name)), uplink_(uplink) {}

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
  }
  uplink_.on_change(change);
  return {};
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
}

}  // namespace anyrdma::sim
