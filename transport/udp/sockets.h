// Carries RoCE packets over UDP sockets: one socket for each local address, and one for each
// multicast group.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transport/realtime/descriptor.h"
#include "transport/station/carrier.h"
#include "transport/udp/local_addresses.h"
#include "verbs/result.h"
#include "verbs/soft/packet.h"
#include "verbs/soft/ring.h"

namespace anyrdma::transport::udp {

struct UdpSocketsConfig {
  std::vector<LocalAddress> addresses;
  std::uint16_t port = verbs::soft::kRoceUdpPort;
  /// Path of the network namespace for sockets of multicast groups; empty: the caller's.
  std::string network_namespace;
  /// The largest number of packets that wait for one socket. Further packets are dropped; the RDMA
  /// protocol sends them again.
  std::size_t queue_max = 8192;
};

/// The UDP sockets of one process. Packets are sent with "don't fragment" and without an IP
/// identification, because the ICRC covers both. Damaged packets are delivered, too: the HCA checks
/// the ICRC. Call all functions inside the critical section (verbs::Runtime::enter), with thread
/// cancellation disabled. No function blocks except flush(), and join(), which may start a thread
/// in another network namespace.
class UdpSockets {
 public:
  /// Opens the sockets in the network namespace of the calling thread. Errors: EADDRINUSE,
  /// EADDRNOTAVAIL, EACCES, EMFILE ... `pool` and `receiver` must outlive the object.
  [[nodiscard]] static verbs::Result<std::unique_ptr<UdpSockets>> create(
      const UdpSocketsConfig& config, verbs::soft::PacketPool& pool,
      station::Carrier::Receiver& receiver);
  ~UdpSockets();

  /// Returns an epoll descriptor that is readable when poll() has something to do.
  [[nodiscard]] int fd() const { return epoll_.get(); }
  /// Makes fd() readable also when the descriptor `other` is readable.
  [[nodiscard]] verbs::Result<void> watch(int other) { return watch(other, nullptr); }
  /// Queues a packet; transmit() sends it. A packet to an own address is delivered to this process.
  /// A packet whose source is not an own address is dropped.
  void send(verbs::soft::PacketPtr packet);
  /// Whether packets to that address are delivered to this process.
  [[nodiscard]] bool has(const ibv_gid& gid) const { return local(gid) != nullptr; }
  /// Fills in the fields of the packet's headers that are sent, and the ICRC.
  void seal(verbs::soft::Packet& packet) const;
  void transmit();
  bool poll();
  void flush(std::chrono::milliseconds limit);
  void close();

  /// Sends an empty datagram to the discard port of an address, so that the kernel resolves the
  /// neighbour on the way.
  void provoke(const soft::Address& destination);

  /// Joins the IP group on the interface that has the address `local`, for the device that has it:
  /// Packet::mark of what arrives is the device's number plus 1. Packets to the group, also
  /// those of this process, then arrive here. Joins are counted. EADDRNOTAVAIL: `local` is not an
  /// own address; EINVAL: not a group; else the system's errno.
  [[nodiscard]] verbs::Result<void> join(const ibv_gid& local, const ibv_gid& group);
  /// Undoes one join(). No effect if there was none.
  void leave(const ibv_gid& local, const ibv_gid& group);

  /// Returns the number of packets that are queued because a socket is full.
  [[nodiscard]] std::size_t queued() const;
  /// Returns the number of packets that were dropped because a socket's queue was full, or because
  /// the system did not send them.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  struct Batch;
  struct Socket {
    realtime::Descriptor fd;
    ibv_gid gid{};  ///< the destination of packets that arrive here
    int interface = 0;
    std::size_t device = 0;  ///< the number of the device to which the packets go
    unsigned joins = 0;      ///< number of joins of a multicast group
    verbs::soft::Ring<verbs::soft::PacketPtr> out;
    bool waiting = false;  ///< the socket is in dirty_
    bool watches_output = false;
  };

  UdpSockets(const UdpSocketsConfig& config, verbs::soft::PacketPool& pool,
             station::Carrier::Receiver& receiver);
  [[nodiscard]] verbs::Result<void> open_all();
  [[nodiscard]] verbs::Result<void> watch(int fd, Socket* socket);
  [[nodiscard]] Socket* local(const ibv_gid& gid) const;
  [[nodiscard]] verbs::Result<realtime::Descriptor> open_group(const ibv_gid& group, int interface);

  void transmit(Socket& socket);
  [[nodiscard]] int send_batch(Socket& socket);
  void watch_output(Socket& socket, bool on);
  [[nodiscard]] bool receive(Socket& socket);
  void take_in(const Socket& socket, std::size_t index, std::size_t size);

  UdpSocketsConfig config_;
  verbs::soft::PacketPool& pool_;
  station::Carrier::Receiver& receiver_;
  realtime::Descriptor epoll_;
  std::vector<std::unique_ptr<Socket>> locals_;
  std::vector<std::unique_ptr<Socket>> groups_;
  std::vector<Socket*> dirty_;  ///< sockets with queued packets that are not full
  std::unique_ptr<Batch> batch_;
  std::uint64_t dropped_ = 0;
};

}  // namespace anyrdma::transport::udp
