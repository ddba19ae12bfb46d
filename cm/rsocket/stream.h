// A stream socket over one reliable connection.
#pragma once

#include <rdma/rdma_cma.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "cm/rsocket/connection.h"
#include "cm/rsocket/options.h"
#include "cm/rsocket/service.h"
#include "cm/rsocket/socket.h"

namespace anyrdma::rsocket {

/// A SOCK_STREAM rsocket. Its descriptor is that of its event channel, or a copy. The program's
/// calls make progress, and the service thread does for what must go on without them. Source:
/// rsocket(7).
class Stream final : public Socket, public std::enable_shared_from_this<Stream> {
 public:
  /// Creates a stream of AF_INET or AF_INET6. ENODEV, EMFILE, ENOMEM; ENOSYS where event channels
  /// have no descriptors (fibers of the simulator).
  [[nodiscard]] static Result<std::shared_ptr<Stream>> create(int family);
  ~Stream() override;

  [[nodiscard]] int fd() const override { return number_ >= 0 ? number_ : channel_->fd; }
  [[nodiscard]] Result<void> bind(const sockaddr* address, socklen_t length) override;
  [[nodiscard]] Result<void> listen(int backlog) override;
  [[nodiscard]] Result<std::shared_ptr<Socket>> accept() override;
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
  [[nodiscard]] Result<::off_t> map(void* memory, std::size_t length, int protection, int flags,
                                    ::off_t offset) override;
  [[nodiscard]] Result<void> unmap(void* memory, std::size_t length) override;
  [[nodiscard]] Result<std::size_t> write_mapped(std::span<const std::byte> data, ::off_t offset,
                                                 int flags) override;
  /// For the service thread: does what is due, and returns what the stream wants from now on.
  [[nodiscard]] Care serve();

 protected:
  bool process() override;
  [[nodiscard]] short state(short events) const override;
  void descriptors(std::vector<pollfd>& descriptors) const override;
  bool request_notifications() override;
  bool take_notifications() override;

 private:
  enum class Phase : std::uint8_t {
    kInitial,
    kBound,
    kListening,
    kResolvingAddress,
    kResolvingRoute,
    kConnecting,
    kAccepting,
    kConnected,  ///< until the socket is closed; how the stream ended is in Connection::ends
    kFailed,     ///< could not connect
  };

  Stream(int family, rdma_event_channel* channel) : family_(family), channel_(channel) {}

  /// A stream without an id.
  [[nodiscard]] static Result<std::shared_ptr<Stream>> with_channel(int family);

  // stream_connect.cc
  /// Takes over the id of a connection request, and accepts it.
  [[nodiscard]] Result<void> accept_request(rdma_cm_id* id, const ConnectData& peer,
                                            const rdma_conn_param& asked);
  [[nodiscard]] Result<std::shared_ptr<Stream>> take_request(const rdma_cm_event& event);
  /// Accepts the requests that have come, as many as the backlog holds. True: there were some.
  bool take_requests();
  [[nodiscard]] Result<void> resolve_address();
  [[nodiscard]] Result<void> request_connection();
  void on_event(const rdma_cm_event& event);
  void on_established(const rdma_conn_param& param);
  void on_not_resolved(int error);
  void fail(int error);
  [[nodiscard]] bool is_opening() const;
  bool take_events();
  [[nodiscard]] Result<void> wait_until_open(Lock& lock, int flags);

  // stream_data.cc
  enum class Go : std::uint8_t { kOn, kNoMore };
  /// Waits until `can_post` is true, and sends mappings first. kNoMore: something was `sent`
  /// before, and no more can be sent now.
  [[nodiscard]] Result<Go> wait_to_post(Lock& lock, int flags, std::size_t sent,
                                        const std::function<bool()>& can_post);

  /// Whether the size of the peer's table of mappings is known.
  [[nodiscard]] bool knows_peer() const;

  // stream.cc
  [[nodiscard]] bool is_connected() const;
  /// Sends a keepalive message if one is due.
  void keep_alive();
  void send_control(Control control);
  void end(Lock& lock, int how);
  void wait_to_the_end(Lock& lock, const Deadline& deadline,
                       const std::function<bool()>& condition);
  /// The error that the next call reports, once.
  [[nodiscard]] int take_error();
  const int family_;
  rdma_event_channel* const channel_;
  rdma_cm_id* id_ = nullptr;
  Phase phase_ = Phase::kInitial;
  int error_ = 0;  ///< errno of a failed connect that was not reported yet
  int attempts_ = 0;
  Name destination_;
  StreamOptions options_;
  std::unique_ptr<Connection> connection_;
  int number_ = -1;  ///< of a stream that was accepted: a copy of the channel's descriptor
  std::size_t backlog_ = 0;
  std::deque<std::shared_ptr<Stream>> accepted_;  ///< that the program has not fetched
  Deadline next_keepalive_;
};

}  // namespace anyrdma::rsocket
