// Sockets between hosts of the world: to the kernel they are Unix sockets whose names say which
// host and port they stand for, so data, waiting, and ends of connections are the kernel's.
// Source: ip(7), unix(7).
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/programs/thread.h"

namespace anyrdma::sim::programs {

class Sockets {
 public:
  explicit Sockets(Sandbox& sandbox);

  [[nodiscard]] Outcome on_socket(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_bind(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_listen(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_connect(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_accept(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_getsockname(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_getpeername(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_setsockopt(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_getsockopt(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_sendto(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_recvfrom(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_sendmsg(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_recvmsg(Thread& thread, const Call& call);

  /// What is written first to a TCP connection that the peer has closed is taken and lost; only its
  /// answer, a reset, tells. True: this is that.
  [[nodiscard]] bool loses(const Descriptor& descriptor);

 private:
  /// An address as sockets have it.
  struct Name {
    sockaddr_storage bytes{};
    socklen_t size = 0;
  };
  /// Whom a port belongs to.
  struct Place {
    std::string host;
    std::uint16_t port = 0;
  };
  struct Socket {
    int family = AF_INET;
    int type = SOCK_STREAM;
    Host* host = nullptr;
    std::uint16_t port = 0;  ///< 0: not bound
    Name local{};            ///< as it was bound to
    bool lost = false;       ///< something has been written that nobody will read
  };
  struct Message;

  /// What of ours a descriptor is; null: no socket between hosts.
  [[nodiscard]] Socket* of(const Descriptor& descriptor);
  [[nodiscard]] std::optional<Name> read_name(Thread& thread, std::uint64_t address,
                                              std::uint64_t size) const;
  [[nodiscard]] static long write_name(Thread& thread, const Name& name, std::uint64_t address,
                                       std::uint64_t size_at);
  [[nodiscard]] Name name_of(const Place& place, int family) const;
  [[nodiscard]] std::optional<Place> place_of(const Name& name, const Host& from) const;
  [[nodiscard]] int bind_to(const Descriptor& descriptor, Socket& socket, std::uint16_t port);
  [[nodiscard]] int bind_to_any(const Descriptor& descriptor, Socket& socket);
  [[nodiscard]] std::string key_of(const Place& place, int type) const;
  [[nodiscard]] std::optional<Place> parse(const sockaddr_storage& name, socklen_t size) const;
  [[nodiscard]] Outcome send(Thread& thread, const Descriptor& descriptor, Socket& socket,
                             const Message& message);
  [[nodiscard]] Outcome receive(Thread& thread, const Descriptor& descriptor, Socket& socket,
                                const Message& message);
  [[nodiscard]] static std::optional<Message> read_message(Thread& thread, const Call& call);

  Sandbox& sandbox_;
  std::string prefix_;                       ///< of all our names
  std::map<std::uint64_t, Socket> sockets_;  ///< by inode
  std::map<const Host*, std::uint16_t> next_port_;
};

}  // namespace anyrdma::sim::programs
