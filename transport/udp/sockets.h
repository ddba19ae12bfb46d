// RoCE packets over UDP sockets: one socket for each local address, and one for each multicast
// group.
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
  std::string network_namespace;  ///< where sockets of groups are made; empty: the caller's
  /// Packets that wait for one socket; more are dropped, which retransmission makes good.
  std::size_t queue_max = 8192;
};

/// Packets leave with "don't fragment" and without an IP identification, which their ICRC covers.
/// Damaged ones are handed on: the HCA checks the ICRC and counts. Used inside the critical
/// section, with thread cancellation off. No call blocks, except flush(), and join() to start a
/// thread in another namespace.
class UdpSockets {
 public:
  /// Opens the sockets, in the calling thread's network namespace. EADDRINUSE, EADDRNOTAVAIL,
  /// EACCES, EMFILE ... `pool` and `receiver` outlive it.
  [[nodiscard]] static verbs::Result<std::unique_ptr<UdpSockets>> create(
      const UdpSocketsConfig& config, verbs::soft::PacketPool& pool,
      station::Carrier::Receiver& receiver);
  ~UdpSockets();

  /// An epoll descriptor: readable when poll() has something to do.
  [[nodiscard]] int fd() const { return epoll_.get(); }
  /// Makes fd() readable when another descriptor is, too.
  [[nodiscard]] verbs::Result<void> watch(int other) { return watch(other, nullptr); }
  /// Queues a packet; transmit() sends it. One to an own address is delivered; one from an address
  /// that is not ours is lost.
  void send(verbs::soft::PacketPtr packet);
  /// Whether packets to that address are delivered here.
  [[nodiscard]] bool has(const ibv_gid& gid) const { return local(gid) != nullptr; }
  /// Fills in the fields that are sent, including the ICRC.
  void seal(verbs::soft::Packet& packet) const;
  void transmit();
  bool poll();
  void flush(std::chrono::milliseconds limit);
  void close();

  /// Sends a datagram of nothing to an address's discard port, so that the kernel looks for the
  /// neighbour on the way.
  void provoke(const soft::Address& destination);

  /// Becomes a member of the IP group on the interface of `local`: what is sent to it arrives here,
  /// our own packets included. Joining again is counted. EADDRNOTAVAIL: not a local address;
  /// EINVAL: no group; what the system says otherwise.
  [[nodiscard]] verbs::Result<void> join(const ibv_gid& local, const ibv_gid& group);
  /// Undoes one join; nothing if there was none.
  void leave(const ibv_gid& local, const ibv_gid& group);

  /// Packets that wait for their sockets.
  [[nodiscard]] std::size_t queued() const;
  /// Dropped because a socket's queue was full, or because the system would not send them.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  struct Batch;
  struct Socket {
    realtime::Descriptor fd;
    ibv_gid gid{};  ///< what packets that arrive here are addressed to
    int interface = 0;
    unsigned joins = 0;  ///< of a group
    verbs::soft::Ring<verbs::soft::PacketPtr> out;
    bool waiting = false;  ///< in dirty_
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
  std::vector<Socket*> dirty_;  ///< with something queued that no full socket holds up
  std::unique_ptr<Batch> batch_;
  std::uint64_t dropped_ = 0;
};

}  // namespace anyrdma::transport::udp
