// IPv4 and IPv6 sockets of programs. For the kernel they are Unix sockets, whose names contain host
// and port, so that the kernel can block and wake their users. Data for another host goes over the
// world's links. Source: ip(7), tcp(7), udp(7), unix(7).
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/programs/io/socket_state.h"
#include "sim/programs/net/ip_sender.h"
#include "sim/programs/net/reassembly.h"
#include "sim/programs/net/socket_files.h"
#include "sim/programs/net/socket_options.h"
#include "sim/programs/net/streams.h"
#include "sim/programs/process/thread.h"
#include "sim/uplink.h"
#include "transport/soft/address.h"

namespace anyrdma::sim::programs {

class Sockets final : public SocketState, private IpReceiver {
 public:
  /// `directory`: as SocketFiles have it.
  Sockets(Supervisor& supervisor, std::filesystem::path directory);
  ~Sockets() override;
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;

  [[nodiscard]] Outcome on_socket(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_bind(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_listen(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_connect(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_accept(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_getsockname(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_getpeername(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_setsockopt(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_getsockopt(Thread& thread, const Call& call);
  /// Handles ioctl(2) requests that Unix sockets do not answer: the addresses of interfaces.
  [[nodiscard]] Outcome on_ioctl(Thread& thread, const Call& call);
  // datagrams.cc
  [[nodiscard]] Outcome on_sendto(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_recvfrom(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_sendmsg(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_recvmsg(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_write(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_writev(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_read(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_readv(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_sendmmsg(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_recvmmsg(Thread& thread, const Call& call);

  [[nodiscard]] bool loses(const Descriptor& descriptor) override;
  [[nodiscard]] int take_failure(const Descriptor& descriptor) override;
  [[nodiscard]] std::optional<Instant> deadline_of(const Thread& thread,
                                                   const Descriptor& descriptor,
                                                   int option) const override;
  /// Transmits what programs have written. Called whenever a thread has stopped and another one may
  /// run.
  void pump();
  /// Ends all connections of a host that has lost its power, without a message to their peers.
  void on_crash(const Host& host) { streams_.on_crash(host); }

 private:
  using Address = transport::soft::Address;
  struct Socket {
    int family = AF_INET;
    int type = SOCK_STREAM;
    Host* host = nullptr;
    std::uint16_t port = 0;   ///< 0: not bound
    Address local{};          ///< as it was bound to; AF_UNSPEC: to all
    Address source{};         ///< the source address of its last packet to the peer
    Address peer{};           ///< of a connection; AF_UNSPEC: there is none
    bool connecting = false;  ///< the program has not read the outcome, `error`, yet
    int error = 0;            ///< to be told with the next call
    bool lost = false;        ///< written data will never be read
    bool listening = false;
    bool abrupt = false;      ///< whether close(2) sends a reset (SO_LINGER with a time of 0)
    Line* line = nullptr;     ///< of a connection with another host
    std::uint64_t bound = 0;  ///< the how manieth bind(2) it was
    bool reuse_address = false;
    bool reuse_port = false;
    bool keepalive = false;         ///< SO_KEEPALIVE
    std::vector<Address> groups{};  ///< that it has joined
    Address group_source{};         ///< of IP_MULTICAST_IF; AF_UNSPEC: the host chooses
    SocketOptions options{};
  };
  /// Of any socket, by its inode. Zero: none.
  struct Timeouts {
    Duration sending{};
    Duration receiving{};
  };
  /// In whose name datagrams are delivered.
  struct Sender {
    Descriptor socket;
    Address address;
  };
  /// A datagram that found no room yet.
  struct Kept {
    const Descriptor* sender;
    std::vector<std::byte> bytes;
  };
  struct Message;

  /// Returns the emulated socket of a descriptor. Null: it is not a socket between hosts.
  [[nodiscard]] Socket* of(const Descriptor& descriptor);
  /// Reads a socket address from the memory of the program. Errors: EFAULT, EINVAL, EAFNOSUPPORT.
  [[nodiscard]] static verbs::Result<Address> read_name(Thread& thread, const Socket& socket,
                                                        std::uint64_t at, std::uint64_t size);
  /// Writes a socket address of `family` to the memory of the program. Returns 0 or -EFAULT.
  [[nodiscard]] static long write_name(Thread& thread, const Address& address, int family,
                                       std::uint64_t at, std::uint64_t size_at);
  /// Returns the host that has an address, as seen from the host `from`. Null: no host has it, or
  /// the host cannot answer.
  [[nodiscard]] Host* owner_of(const Address& address, Host& from) const;
  /// Returns the source address of packets from the host `from` to `address`. ENETUNREACH: there is
  /// no route.
  [[nodiscard]] static verbs::Result<Address> source_towards(const Address& address,
                                                             const Host& from, const Host* owner);
  [[nodiscard]] std::string name_of(const Host& host, std::uint16_t port, int type) const;
  /// Returns the socket whose file has that name. Null: it is closed, and its record is removed.
  [[nodiscard]] Socket* socket_of(const sockaddr_storage& name, socklen_t size);
  /// Whether the socket with the file `name` can be reached by `address`.
  [[nodiscard]] bool is_open_to(const std::string& name, const Address& address) const;
  // ports.cc
  /// Returns the names of the files of all sockets that are, or were, bound to a port.
  [[nodiscard]] std::vector<std::string> names_at(const Host& host, std::uint16_t port,
                                                  int type) const;
  /// Returns the name of the socket that hears what `source` sends to `target`; empty: none does.
  /// Of sockets that share a port it is the one whose addresses fit best, as Linux chooses it.
  [[nodiscard]] std::string hearer_at(const Host& host, const Address& target,
                                      const Address& source, int type) const;
  /// Whether Linux refuses to bind the socket to the port because another one has it.
  [[nodiscard]] bool port_is_taken(const Socket& socket, std::uint16_t port) const;
  /// Whether Linux refuses to bind the socket to the port because a connection has it, or had it
  /// until a moment ago.
  [[nodiscard]] bool port_is_held(const Socket& socket, std::uint16_t port);
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
  /// Null: it is no sender's.
  [[nodiscard]] const Address* sender_of(const sockaddr_storage& name, socklen_t size) const;
  [[nodiscard]] static Outcome take_from_stream(Socket& socket, const Descriptor& descriptor,
                                                Outcome outcome);
  /// Returns the error of a non-blocking connect(2) that was refused, if it is known and the
  /// program has not got it yet; else 0. Later calls return 0.
  [[nodiscard]] static int take_refusal(Socket& socket, const Descriptor& descriptor);
  [[nodiscard]] Outcome connect_elsewhere(Thread& thread, const Descriptor& descriptor,
                                          Socket& socket);
  /// Returns the error that the socket's next call must report, or 0. Later calls return 0.
  [[nodiscard]] static int take_error(Socket& socket);
  [[nodiscard]] std::optional<Outcome> tell_option(Thread& thread, const Call& call,
                                                   const Descriptor& descriptor);
  void note_timeout(Thread& thread, const Call& call, const Descriptor& descriptor);
  /// Notes what a program sets at the level SOL_SOCKET, which the kernel's socket has, too.
  static void note_option(Thread& thread, const Call& call, Socket& socket);
  /// Applies the options of a socket to its connection.
  static void apply_options(const Socket& socket);
  // groups.cc
  /// Whether what is sent to the address is for all hosts that want it: a multicast group, or all
  /// hosts of the network of one of the interfaces.
  [[nodiscard]] static bool is_for_all(const Address& address, const Host& host);
  /// Handles the options that join and leave groups, and that choose an interface for them. Returns
  /// 0 or an errno; nullopt: another option.
  [[nodiscard]] static std::optional<int> set_group_option(Socket& socket, int level, int name,
                                                           std::span<const std::byte> value);
  [[nodiscard]] int send_to_all(const Descriptor& descriptor, Socket& socket, const Address& target,
                                std::span<const std::byte> bytes);
  /// Returns the source address of what a socket sends to a group or to all hosts of a network.
  /// ENETUNREACH: the host has no interface for it.
  [[nodiscard]] static verbs::Result<Address> source_for_all(const Socket& socket,
                                                             const Address& target);
  void deliver_to_all(const Host& at, const Address& target, const Address& source,
                      std::span<const std::byte> bytes);
  [[nodiscard]] Outcome set_option(Thread& thread, const Call& call, Socket& socket);
  // arrivals.cc
  void on_ip(Host& at, const verbs::soft::Packet& packet) override;
  void on_datagram(Host& at, const verbs::soft::Packet& packet,
                   std::span<const std::uint8_t> payload);
  void on_refusal(Host& at, const verbs::soft::Packet& packet);
  /// False: no socket has the port.
  [[nodiscard]] bool deliver(const Host& at, const Address& target, const Address& source,
                             std::span<const std::byte> bytes);
  void deliver_kept();
  [[nodiscard]] const Descriptor& sender_for(const Address& source);
  void drop_refusals(const Descriptor& descriptor) const;
  [[nodiscard]] bool is_refusal(const sockaddr_storage& name, socklen_t size) const;
  /// Puts a datagram into the socket with the file `name`. False: it is closed.
  [[nodiscard]] bool deliver_into(const std::string& name, const Address& source,
                                  std::span<const std::byte> bytes);
  [[nodiscard]] static Outcome hand_over(Thread& thread, const Message& message,
                                         std::span<const std::byte> bytes, std::size_t length,
                                         const Address& sender, int family);
  [[nodiscard]] static std::optional<Message> read_message(Thread& thread, std::uint64_t at,
                                                           std::uint64_t flags);
  [[nodiscard]] static std::optional<Message> read_parts(Thread& thread, const Call& call);

  Supervisor& supervisor_;
  SocketFiles files_;
  std::map<std::uint64_t, Socket> sockets_;     ///< by inode
  std::map<std::uint64_t, Timeouts> timeouts_;  ///< by inode

  /// inodes of the sockets that are, or were, bound to a name
  std::map<std::string, std::uint64_t> inodes_;
  std::map<const Host*, std::uint16_t> next_port_;
  std::uint64_t binds_ = 0;
  IpSender sender_;
  Streams streams_;
  Reassembly parts_;
  std::map<std::string, Sender> senders_;  ///< by the names of their files

  /// datagrams without room, by the name of the receiving socket
  std::map<std::string, std::deque<Kept>> kept_;
};

}  // namespace anyrdma::sim::programs
