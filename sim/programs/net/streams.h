// TCP connections between simulated hosts. For the kernel, each end is one of a pair of connected
// Unix sockets. The program has one socket and waits for it as usual. The supervisor has the other,
// and moves bytes between it and a simulated TCP endpoint on the world's links. Source: tcp(7),
// unix(7), epoll(7).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/programs/net/ip_sender.h"
#include "sim/programs/net/socket_files.h"
#include "sim/programs/process/thread.h"
#include "sim/schedule/random_stream.h"
#include "sim/schedule/scheduler.h"
#include "sim/tcp/endpoint.h"

namespace anyrdma::sim::programs {

class Streams;

/// One end of a TCP connection between simulated hosts. The object exists until the world ends, so
/// that the outcome of the connection can be reported.
class Line final : private Task {
 public:
  Line(Streams& streams, Host& host, const TcpArrival& where, const tcp::Endpoint& endpoint);

  [[nodiscard]] const Address& local() const { return local_; }
  [[nodiscard]] const Address& peer() const { return peer_; }
  /// The connection is not established or refused yet.
  [[nodiscard]] bool is_connecting() const { return !over_ && endpoint_.is_asking(); }
  /// Returns the error of the connection; take_error() returns it once.
  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] int take_error() { return std::exchange(error_, 0); }
  /// Sets whether close(2) by the program ends the connection with a reset (SO_LINGER with a time
  /// of zero).
  void set_abrupt(bool abrupt) { abrupt_ = abrupt; }
  /// Sets whether a socket with SO_REUSEADDR can be bound to the local port, too.
  void set_reuse_address(bool reuse) { reuse_address_ = reuse; }
  void set_keepalive(const std::optional<tcp::Keepalive>& keepalive);

 private:
  friend class Streams;
  void run() override;

  Streams& streams_;
  Host& host_;
  Address local_;
  Address peer_;
  tcp::Endpoint endpoint_;
  std::uint64_t number_ = 0;
  /// the listening socket that has not accepted the connection yet; else empty
  std::string listener_;
  Descriptor end_;             ///< ours; empty: no program has the other one
  std::uint32_t watched_ = 0;  ///< events of epoll's
  std::size_t filling_ = 0;    ///< bytes in the socket that keep it unwritable while it connects
  Thread* waiter_ = nullptr;   ///< for the connection
  int error_ = 0;
  bool abrupt_ = false;
  bool reuse_address_ = false;
  bool gone_ = false;      ///< no program has its end any more
  bool finished_ = false;  ///< all data that the program has written was taken
  bool full_ = false;  ///< the program may have written data that the connection cannot take yet
  bool told_end_ = false;  ///< the program knows that nothing more comes
  bool over_ = false;
};

class Streams {
 public:
  /// Returns the file name of the Unix socket that listens at an address of a host. Empty: no
  /// socket listens there.
  using FindListener =
      std::function<std::string(const Host&, const Address& local, const Address& peer)>;

  Streams(Supervisor& supervisor, SocketFiles& files, IpSender& sender, FindListener find_listener);
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  /// Asks for a connection.
  [[nodiscard]] Line& connect(Host& host, const Address& local, const Address& peer);
  /// Suspends the thread until the connection is established or refused (kReady; error() tells
  /// which), or until `deadline`.
  [[nodiscard]] Woken wait_for(Thread& thread, Line& line, std::optional<Instant> deadline);
  /// Makes a socket that is not connected yet the program's end of the connection. Returns 0 or an
  /// errno.
  [[nodiscard]] int attach(Line& line, const Descriptor& socket);
  /// Makes a socket that is not connected report by poll(2) that its connection was refused:
  /// POLLERR and POLLHUP.
  void refuse(const Descriptor& socket);
  /// Ends it without a message.
  void forget(Line& line);
  /// Returns the connection whose socket a program has accepted. Null: the socket belongs to no
  /// such connection.
  [[nodiscard]] Line* of_accepted(const Descriptor& accepted);

  /// Whether a connection of the host keeps its local port from a socket that is to be bound to
  /// it: one that exists, or a closed one in TIME_WAIT or FIN_WAIT_2, until a minute has passed.
  /// `reuse`: the socket has SO_REUSEADDR. `overlaps`: whether the socket would have the local
  /// address of a connection, too.
  [[nodiscard]] bool holds(const Host& host, std::uint16_t port, bool reuse,
                           const std::function<bool(const Address&)>& overlaps);

  void on_arrival(Host& host, const TcpArrival& arrival);
  /// Transmits the data that programs have written since the last call, and handles closed sockets.
  void pump();
  /// Ends all connections of a host that has lost its power, without a message to their peers.
  void on_crash(const Host& host);

 private:
  friend class Line;
  using Ip = std::array<std::uint8_t, 16>;
  using Key = std::tuple<const Host*, Ip, std::uint16_t, Ip, std::uint16_t>;

  [[nodiscard]] static Key key_of(const Host& host, const TcpArrival& where) {
    return {&host, where.local.ip, where.local.port, where.peer.ip, where.peer.port};
  }
  Line& add(Host& host, const TcpArrival& where, const tcp::Endpoint& endpoint);
  void on_request(Host& host, const TcpArrival& arrival);
  [[nodiscard]] bool is_forgotten(const Line& line) const;
  void on_timer(Line& line);
  /// Not predictable.
  [[nodiscard]] std::uint32_t next_sequence() { return static_cast<std::uint32_t>(random_.next()); }
  void offer(Line& line);
  void go_on(Line& line);
  void take_from_program(Line& line);
  void give_to_program(Line& line);
  [[nodiscard]] int meet(const Descriptor& socket, Descriptor& end);
  void fill(Line& line, const Descriptor& socket);
  void unfill(Line& line);
  void flush(Line& line);
  void let_go(Line& line);
  void watch(Line& line);

  Supervisor& supervisor_;
  SocketFiles& files_;
  IpSender& sender_;
  FindListener find_listener_;
  RandomStream& random_;                                  ///< where sequence numbers begin
  std::map<std::uint64_t, std::unique_ptr<Line>> lines_;  ///< by number
  std::map<Key, Line*> known_;                            ///< to the network
  std::map<std::string, Line*> names_;                    ///< of our ends that are to be accepted
  std::vector<Line*> unaccepted_;                         ///< those that found no room
  Descriptor meeting_;                                    ///< where a program's end and ours meet
  Descriptor epoll_;
  std::size_t watched_ = 0;
  std::uint64_t made_ = 0;
};

}  // namespace anyrdma::sim::programs
