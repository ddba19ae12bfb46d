// A datagram socket: a UDP socket, and a queue pair on each local address that is used.
#pragma once

#include <compare>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cm/rsocket/datagram_port.h"
#include "cm/rsocket/datagram_wire.h"
#include "cm/rsocket/socket.h"

namespace anyrdma::rsocket {

/// A SOCK_DGRAM rsocket. The first datagrams to a peer travel in UDP, with the number of the own
/// queue pair. As soon as the peer has answered with its own, datagrams travel between the queue
/// pairs. Like UDP, it may lose datagrams. There is no thread behind a socket: its program's calls
/// answer peers. The descriptor is that of the UDP socket. Source: rsocket(7), docs/rsocket of
/// librdmacm.
class Datagram final : public Socket {
 public:
  /// Creates a socket of AF_INET or AF_INET6. EMFILE, ENOMEM; ENODEV: there is no device; ENOSYS
  /// where event channels have no descriptors (fibers of the simulator).
  [[nodiscard]] static Result<std::shared_ptr<Datagram>> create(int family);
  ~Datagram() override;

  [[nodiscard]] int fd() const override { return udp_; }
  [[nodiscard]] Result<void> bind(const sockaddr* address, socklen_t length) override;
  [[nodiscard]] Result<void> connect(const sockaddr* address, socklen_t length) override;
  [[nodiscard]] Result<void> shutdown(int how) override;
  void close() override;
  [[nodiscard]] Result<std::size_t> send(std::span<const iovec> data, int flags,
                                         const Name* to) override;
  [[nodiscard]] Result<std::size_t> receive(std::span<const iovec> into, int flags,
                                            Name* from) override;
  [[nodiscard]] Result<Name> own_name() override;
  [[nodiscard]] Result<Name> peer_name() override;
  [[nodiscard]] Result<void> set_option(int level, int name,
                                        std::span<const std::byte> value) override;
  [[nodiscard]] Result<std::size_t> option(int level, int name,
                                           std::span<std::byte> value) override;

 protected:
  bool process() override;
  [[nodiscard]] short state(short events) const override;
  void descriptors(std::vector<pollfd>& descriptors) const override;
  bool request_notifications() override;
  bool take_notifications() override;

 private:
  struct Peer {
    Name name;
    DatagramPort* port = nullptr;
    DatagramPort::Route route;  ///< without a handle until the peer has answered
  };
  struct Arrived {
    Name from;
    std::vector<std::byte> data;
  };

  Datagram(int family, int udp) : family_(family), udp_(udp) {}
  [[nodiscard]] Result<Peer*> peer_of(const Name& name);
  [[nodiscard]] Result<DatagramPort*> port_towards(const Name& peer);
  [[nodiscard]] Result<void> send_in_udp(const Peer& peer, UdpHeader::Operation operation,
                                         std::span<const std::byte> data);
  bool process_udp();
  void on_udp(const Name& from, std::span<const std::byte> packet);
  void learn(Peer& peer, std::uint32_t queue_pair);
  void keep(const Name& from, std::span<const std::byte> data);
  [[nodiscard]] bool can_send() const;

  const int family_;
  const int udp_;
  std::vector<std::unique_ptr<DatagramPort>> ports_;
  std::map<std::string, Peer> peers_;  ///< by the bytes of address and port
  std::optional<Name> connected_;
  std::deque<Arrived> arrived_;
};

}  // namespace anyrdma::rsocket
