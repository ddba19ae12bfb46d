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

/// Receives what the world sends to an interface without a simulated device
/// (Interfaces::set_uplink), for a host whose programs are processes. The functions are called
/// while the world runs, and by functions of the host's Power, Devices, Interfaces and Neighbours.
/// They may call Interfaces::send_from.
class Uplink {
 public:
  virtual ~Uplink() = default;
  /// Called with a packet for the interface, or for a multicast group. The packet is valid during
  /// the call.
  virtual void on_packet(const verbs::soft::Packet& packet) = 0;
  /// Answer to Neighbours::ask: 0 or an errno.
  virtual void on_neighbour(transport::soft::NeighbourToken token, int error) = 0;
  /// Called when the RDMA device that the host's processes see changes, or when one of the host's
  /// neighbours changes.
  virtual void on_change(const transport::soft::DeviceChange& change) = 0;
  /// Called when the host has lost its power. From now on no packet of its programs leaves the
  /// host, and no question is answered.
  virtual void on_crash() = 0;
  /// Called when the host's programs are killed while the host stays on. The messages that its
  /// kernel sends for them still leave the host.
  virtual void on_kill() = 0;
  /// Called to kill one program: the `number`-th that was started under that name. Returns false if
  /// there is no such program, or it has ended.
  virtual bool on_kill_program(std::string_view /*name*/, std::uint32_t /*number*/) {
    return false;
  }
  /// Selects the program to stop or continue, and one of its threads (0: all).
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
  /// Called with a packet that is not RDMA. The packet's checksum is right, unless the packet is a
  /// fragment. It is valid during the call. The function may call Interfaces::send_from.
  virtual void on_ip(Host& at, const verbs::soft::Packet& packet) = 0;
};

}  // namespace anyrdma::sim
