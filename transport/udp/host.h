// The machine as a host that uses RoCEv2 over UDP: the process's sockets carry the packets, and the
// kernel is asked for routes and neighbours.
#pragma once

#include <memory>
#include <vector>

#include "transport/soft/network.h"
#include "transport/soft/transport.h"
#include "transport/station/carrier.h"
#include "transport/udp/local_addresses.h"
#include "transport/udp/route_socket.h"
#include "transport/udp/sockets.h"

namespace anyrdma::transport::udp {

/// The host of one process. Its addresses belong to one or more devices, numbered from 0. The
/// interface index of a device is that of its first address, or a number of no interface if an
/// earlier device has that index.
class UdpHost final : public station::Carrier, public soft::Network {
 public:
  /// Creates the host. Call it in a thread that is in the network namespace of `config`. Errors: as
  /// UdpSockets::create and RouteSocket::open. `pool` and `receiver` must outlive the object.
  [[nodiscard]] static verbs::Result<std::unique_ptr<UdpHost>> create(
      const UdpSocketsConfig& config, verbs::soft::PacketPool& pool, Receiver& receiver);
  /// Sets the transport that receives the answers about neighbours. Call it before the first
  /// resolve_neighbour.
  void attach(soft::SoftTransport& transport) { transport_ = &transport; }

  [[nodiscard]] std::size_t devices() const { return interfaces_.size(); }
  [[nodiscard]] int interface(std::size_t device) const { return interfaces_[device]; }
  [[nodiscard]] std::vector<ibv_gid> gids(std::size_t device) const;
  /// Returns the largest path MTU that all interfaces of the device allow.
  [[nodiscard]] ibv_mtu path_mtu(std::size_t device) const;
  [[nodiscard]] bool only_loopback() const;

  // --- Carrier ----------------------------------------------------------------------------------
  [[nodiscard]] int fd() const override { return sockets_->fd(); }
  void send(verbs::soft::PacketPtr packet) override { sockets_->send(std::move(packet)); }
  [[nodiscard]] bool is_own(const verbs::soft::Packet& packet) const override {
    return sockets_->has(packet.destination);
  }
  [[nodiscard]] std::size_t rail_of(const verbs::soft::Packet& packet) const override;
  void seal(verbs::soft::Packet& packet) const override { sockets_->seal(packet); }
  void transmit() override { sockets_->transmit(); }
  bool poll() override { return sockets_->poll(); }
  [[nodiscard]] std::optional<verbs::Instant> next_deadline() const override;
  [[nodiscard]] bool has_report() const override { return !questions_.empty(); }
  bool report(verbs::Instant now) override;
  void flush(std::chrono::milliseconds limit) override { sockets_->flush(limit); }
  void close() override { sockets_->close(); }
  void abandon() override;

  // --- soft::Network ----------------------------------------------------------------------------
  [[nodiscard]] verbs::Result<soft::Route> route(const soft::Address* source,
                                                 const soft::Address& destination) override;
  [[nodiscard]] verbs::Result<int> interface_of(const soft::Address& local) override;
  /// Starts to resolve a neighbour. If the kernel does not know it yet, sends an empty datagram to
  /// the destination's discard port, so that the kernel resolves it.
  void resolve_neighbour(soft::NeighbourToken token, const soft::Route& route,
                         std::chrono::milliseconds timeout) override;
  void cancel_neighbour(soft::NeighbourToken token) override;
  [[nodiscard]] verbs::Result<void> join_group(const soft::Address& local,
                                               const soft::Address& group) override;
  void leave_group(const soft::Address& local, const soft::Address& group) override;

 private:
  struct Question {
    soft::NeighbourToken token{};
    int interface = 0;
    soft::Address next_hop{};
    soft::Address destination{};
    verbs::Instant deadline{};
  };

  UdpHost(std::vector<LocalAddress> addresses, RouteSocket routes);

  [[nodiscard]] const LocalAddress* own(const soft::Address& address) const;
  [[nodiscard]] const LocalAddress* source_for(const RouteSocket::Route& route) const;
  [[nodiscard]] bool known(const Question& question);

  std::vector<LocalAddress> addresses_;
  std::vector<int> interfaces_;  ///< the index of each device
  RouteSocket routes_;
  std::unique_ptr<UdpSockets> sockets_;
  soft::SoftTransport* transport_ = nullptr;
  /// Questions about neighbours, in the order in which they were asked.
  std::vector<Question> questions_;
};

}  // namespace anyrdma::transport::udp
