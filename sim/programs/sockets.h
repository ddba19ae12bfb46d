// Sockets between hosts of the world: to the kernel they are Unix sockets whose names say which
// host and port they stand for, so data, waiting, and ends of connections are the kernel's.
// Source: ip(7), tcp(7), udp(7), unix(7).
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "sim/programs/socket_files.h"
#include "sim/programs/thread.h"
#include "transport/soft/address.h"

namespace anyrdma::sim::programs {

class Sockets {
 public:
  /// `directory`: as SocketFiles have it.
  Sockets(Sandbox& sandbox, std::filesystem::path directory)
      : sandbox_(sandbox), files_(std::move(directory)) {}

  [[nodiscard]] Outcome on_socket(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_bind(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_listen(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_connect(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_accept(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_getsockname(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_getpeername(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_setsockopt(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_getsockopt(Thread& thread, const Call& call);
  /// Requests that Unix sockets have no answer to: the addresses of interfaces.
  [[nodiscard]] Outcome on_ioctl(Thread& thread, const Call& call);
  // datagrams.cc
  [[nodiscard]] Outcome on_sendto(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_recvfrom(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_sendmsg(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_recvmsg(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_write(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_writev(Thread& thread, const Call& call);

  /// What is written first to a TCP connection that the peer has closed is taken and lost; only its
  /// answer, a reset, tells. True: this is that.
  [[nodiscard]] bool loses(const Descriptor& descriptor);

 private:
  using Address = transport::soft::Address;
  struct Socket {
    int family = AF_INET;
    int type = SOCK_STREAM;
    Host* host = nullptr;
    std::uint16_t port = 0;   ///< 0: not bound
    Address local{};          ///< as it was bound to; AF_UNSPEC: to all
    Address source{};         ///< what its peer, or who got the last datagram, knows it by
    Address peer{};           ///< of a connection; AF_UNSPEC: there is none
    bool connecting = false;  ///< it has not been told of the outcome, which is `error`
    int error = 0;            ///< to be told with the next call
    bool lost = false;        ///< something has been written that nobody will read
  };
  struct Message;

  /// What of ours a descriptor is; null: no socket between hosts.
  [[nodiscard]] Socket* of(const Descriptor& descriptor);
  /// An address that a program gives. Errors: EFAULT, EINVAL, EAFNOSUPPORT.
  [[nodiscard]] static verbs::Result<Address> read_name(Thread& thread, const Socket& socket,
                                                        std::uint64_t at, std::uint64_t size);
  /// As a socket of that family has it. 0 or -EFAULT.
  [[nodiscard]] static long write_name(Thread& thread, const Address& address, int family,
                                       std::uint64_t at, std::uint64_t size_at);
  /// The host of an address, as `from` sees it; null: nobody's, or who has it cannot answer.
  [[nodiscard]] Host* owner_of(const Address& address, Host& from) const;
  /// What `from` sends from; ENETUNREACH: there is no way.
  [[nodiscard]] static verbs::Result<Address> source_towards(const Address& address,
                                                             const Host& from, const Host* owner);
  [[nodiscard]] std::string name_of(const Host& host, std::uint16_t port, int type) const;
  /// The socket of a file; null: it is gone and forgotten.
  [[nodiscard]] Socket* socket_of(const sockaddr_storage& name, socklen_t size);
  /// Whether somebody who is bound there is to be found by that address.
  [[nodiscard]] bool is_open_to(const std::string& name, const Address& address) const;
  [[nodiscard]] static Address local_of(const Socket& socket);
  [[nodiscard]] int bind_to(const Descriptor& descriptor, Socket& socket, std::uint16_t port);
  [[nodiscard]] int bind_to_any(const Descriptor& descriptor, Socket& socket);
  [[nodiscard]] Outcome connect_stream(Thread& thread, const Descriptor& descriptor, Socket& socket,
                                       const Address& target);
  [[nodiscard]] Outcome connect_datagrams(const Descriptor& descriptor, Socket& socket,
                                          const Address& target);
  [[nodiscard]] Outcome send(Thread& thread, const Descriptor& descriptor, Socket& socket,
                             const Message& message);
  [[nodiscard]] int send_to(const Descriptor& descriptor, Socket& socket, const Address& target,
                            std::span<const std::byte> bytes);
  [[nodiscard]] Outcome receive(Thread& thread, const Descriptor& descriptor, Socket& socket,
                                const Message& message);
  [[nodiscard]] Address sender_of(const sockaddr_storage& name, socklen_t size);
  void drop_what_others_sent(const Descriptor& descriptor, const Socket& socket);
  [[nodiscard]] static Outcome hand_over(Thread& thread, const Message& message,
                                         std::span<const std::byte> bytes, std::size_t length,
                                         const Address& sender, int family);
  [[nodiscard]] static std::optional<Message> read_message(Thread& thread, const Call& call);

  Sandbox& sandbox_;
  SocketFiles files_;
  std::map<std::uint64_t, Socket> sockets_;      ///< by inode
  std::map<std::string, std::uint64_t> inodes_;  ///< of what is, or was, bound to a name
  std::map<const Host*, std::uint16_t> next_port_;
};

}  // namespace anyrdma::sim::programs
