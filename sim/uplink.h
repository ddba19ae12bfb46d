// The world's interface to processes, whose packets a gateway carries.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "transport/soft/device_change.h"
#include "transport/soft/network.h"
#include "verbs/soft/packet.h"

namespace anyrdma::sim {

class Host;

/// At the other end of an interface that has no device (Host::set_uplink). Called while the world
/// runs, and from Host's functions where they say so; may call Host::send_from.
class Uplink {
 public:
  virtual ~Uplink() = default;
  /// A packet has arrived for the interface, or for a group. A view.
  virtual void on_packet(const verbs::soft::Packet& packet) = 0;
  /// Answer to Host::ask_neighbour: 0 or an errno.
  virtual void on_neighbour(transport::soft::NeighbourToken token, int error) = 0;
  /// Something happens to the device that the processes have of the host, or to one of its
  /// neighbours.
  virtual void on_change(const transport::soft::DeviceChange& change) = 0;
  /// The host has lost its power: no word of its programs leaves it any more, and no question is
  /// answered.
  virtual void on_crash() = 0;
  /// Its programs are killed; what their kernel says for them leaves the host.
  virtual void on_kill() = 0;
  /// Kills one program: the n-th that was started under that name. False: there is none, or it has
  /// ended.
  virtual bool on_kill_program(std::string_view /*name*/, std::uint32_t /*number*/) {
    return false;
  }
  /// Stops or continues a program, or one of its threads (0: all). Returns whether that is a
  /// change; nothing: there is no such program.
  struct Threads {
    std::string_view program;
    std::uint32_t number = 1;  ///< of that name
    std::uint32_t thread = 0;
  };
  virtual std::optional<bool> on_pause_program(const Threads& /*threads*/, bool /*paused*/) {
    return std::nullopt;
  }
};

/// Receives packets for hosts other than RDMA: TCP, UDP, ICMP.
class IpReceiver {
 public:
  virtual ~IpReceiver() = default;
  /// Its checksum is right, unless it is a fragment. A view. May call Host::send_from.
  virtual void on_ip(Host& at, const verbs::soft::Packet& packet) = 0;
};

}  // namespace anyrdma::sim
