// How a stream gets and loses its connection: events of the CM.
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "cm/rsocket/stream.h"

namespace anyrdma::rsocket {
namespace {

constexpr int kResolveTimeout = 2000;  // milliseconds, of the first attempt
constexpr int kAttempts = 6;
constexpr std::uint8_t kRetries = 7;
constexpr std::uint8_t kForever = 7;  // of RNR retries: a peer that does not read is no error

std::span<const std::byte> private_data_of(const rdma_conn_param& param) {
  if (param.private_data == nullptr) return {};
  return {static_cast<const std::byte*>(param.private_data), param.private_data_len};
}

int error_of(const rdma_cm_event& event, int otherwise) {
  return event.status < 0 ? -event.status : otherwise;
}

}  // namespace

bool Stream::is_opening() const {
  return phase_ == Phase::kResolvingAddress || phase_ == Phase::kResolvingRoute ||
         phase_ == Phase::kConnecting || phase_ == Phase::kAccepting;
}

// --- the server's side ---------------------------------------------------------------------------

Result<std::shared_ptr<Socket>> Stream::accept() {
  Lock lock(mutex_);
  if (phase_ != Phase::kListening) return errno_code(EINVAL);
  const auto waited =
      wait(lock, may_wait(0), std::nullopt, [this] { return !accepted_.empty() || error_ != 0; });
  if (!waited) return waited.error();
  if (accepted_.empty()) return errno_code(take_error());
  // A new number, as accept(2) gives: select(2) of librspreload.so 44 confuses two sockets if an
  // rsocket has a lower number than the descriptor that stands for it, which exists by now.
  const std::shared_ptr<Stream> first = accepted_.front();
  first->number_ = ::fcntl(first->channel_->fd, F_DUPFD, 0);
  if (first->number_ < 0) return errno_code(errno);
  accepted_.pop_front();
  wake();  // there is room for another one
  return std::shared_ptr<Socket>(first);
}

bool Stream::take_requests() {
  bool any = false;
  rdma_cm_event* event = nullptr;
  while (accepted_.size() < backlog_ && rdma_get_cm_event(channel_, &event) == 0) {
    any = true;
    if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
      (void)rdma_ack_cm_event(event);
      continue;
    }
    auto stream = take_request(*event);
    if (!stream) {
      error_ = stream.error().value();
    } else if (*stream != nullptr) {
      accepted_.push_back(std::move(*stream));
    }
  }
  return any;
}

// Null: the request came from a program that does not use rsockets, and is rejected.
Result<std::shared_ptr<Stream>> Stream::take_request(const rdma_cm_event& event) {
  rdma_cm_id* const id = event.id;
  const rdma_conn_param asked = event.param.conn;
  const auto peer = get_connect_data(private_data_of(asked));
  (void)rdma_ack_cm_event(const_cast<rdma_cm_event*>(&event));
  const auto refuse = [id] {
    (void)rdma_reject(id, nullptr, 0);
    (void)rdma_destroy_id(id);
  };
  if (!peer) {
    refuse();
    return std::shared_ptr<Stream>();
  }
  auto stream = with_channel(family_);
  if (!stream) {
    refuse();
    return stream.error();
  }
  (*stream)->options_ = options_;
  if (const auto accepted = (*stream)->accept_request(id, *peer, asked); !accepted) {
    (*stream)->connection_.reset();
    refuse();
    return accepted.error();
  }
  return *stream;
}

Result<void> Stream::accept_request(rdma_cm_id* id, const ConnectData& peer,
                                    const rdma_conn_param& asked) {
  if (rdma_migrate_id(id, channel_) != 0) return errno_code(errno);
  auto connection = Connection::create(id, options_.settings(*id));
  if (!connection) return connection.error();
  connection_ = std::move(*connection);
  connection_->begin(peer);
  const auto data = put_connect_data(connection_->own_data());
  rdma_conn_param param{};
  param.private_data = data.data();
  param.private_data_len = data.size();
  param.responder_resources = asked.responder_resources;
  param.initiator_depth = asked.initiator_depth;
  param.flow_control = 1;
  param.rnr_retry_count = kForever;
  if (rdma_accept(id, &param) != 0) return errno_code(errno);
  id_ = id;
  phase_ = Phase::kAccepting;
  return {};
}

// --- the client's side ---------------------------------------------------------------------------

Result<void> Stream::connect(const sockaddr* address, socklen_t length) {
  Lock lock(mutex_);
  if (address->sa_family != family_) return errno_code(EAFNOSUPPORT);
  if (phase_ == Phase::kConnected) return errno_code(EISCONN);
  if (phase_ == Phase::kListening) return errno_code(EOPNOTSUPP);
  if (phase_ == Phase::kFailed) return errno_code(error_ != 0 ? take_error() : EINVAL);
  if (is_opening()) {
    (void)process();
    if (is_opening()) return errno_code(EALREADY);
    return phase_ == Phase::kConnected ? Result<void>() : errno_code(take_error());
  }
  const socklen_t expected = family_ == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  if (length < expected) return errno_code(EINVAL);
  std::memcpy(&destination_.storage, address, expected);
  destination_.length = expected;
  attempts_ = 0;
  if (const auto begun = resolve_address(); !begun) return begun;
  const auto waited = wait(lock, may_wait(0), std::nullopt, [this] { return !is_opening(); });
  if (!waited) {
    if (waited.error() != errno_code(EAGAIN)) return waited;
    Service::own().care_for(shared_from_this());
    return errno_code(EINPROGRESS);
  }
  return phase_ == Phase::kConnected ? Result<void>() : errno_code(take_error());
}

Result<void> Stream::resolve_address() {
  ++attempts_;
  auto* const to = reinterpret_cast<sockaddr*>(&destination_.storage);
  if (rdma_resolve_addr(id_, nullptr, to, kResolveTimeout * attempts_) != 0) {
    return errno_code(errno);
  }
  phase_ = Phase::kResolvingAddress;
  return {};
}

Result<void> Stream::request_connection() {
  auto connection = Connection::create(id_, options_.settings(*id_));
  if (!connection) return connection.error();
  connection_ = std::move(*connection);
  const auto data = put_connect_data(connection_->own_data());
  rdma_conn_param param{};
  param.private_data = data.data();
  param.private_data_len = data.size();
  param.flow_control = 1;
  param.retry_count = kRetries;
  param.rnr_retry_count = kForever;
  if (rdma_connect(id_, &param) != 0) return errno_code(errno);
  phase_ = Phase::kConnecting;
  return {};
}

void Stream::fail(int error) {
  error_ = error;
  phase_ = Phase::kFailed;
}

void Stream::on_not_resolved(int error) {
  if (error != ETIMEDOUT || attempts_ >= kAttempts) return fail(error);
  if (const auto again = resolve_address(); !again) fail(again.error().value());
}

void Stream::on_established(const rdma_conn_param& param) {
  if (phase_ == Phase::kConnecting) {
    const auto peer = get_connect_data(private_data_of(param));
    if (!peer) {
      (void)rdma_disconnect(id_);
      return fail(ECONNREFUSED);  // the peer is no rsocket
    }
    connection_->begin(*peer);
  }
  phase_ = Phase::kConnected;
  connection_->open();
  if (options_.keep_alive()) Service::own().care_for(shared_from_this());
}

// --- both ----------------------------------------------------------------------------------------

bool Stream::take_events() {
  bool any = false;
  rdma_cm_event* event = nullptr;
  while (rdma_get_cm_event(channel_, &event) == 0) {
    any = true;
    // What follows may use the id, which waits for events that are not acknowledged.
    rdma_cm_event copy = *event;
    std::array<std::byte, 256> data{};
    const auto bytes = private_data_of(copy.param.conn);
    std::copy_n(bytes.begin(), bytes.size(), data.begin());
    if (!bytes.empty()) copy.param.conn.private_data = data.data();
    (void)rdma_ack_cm_event(event);
    on_event(copy);
  }
  return any;
}

void Stream::on_event(const rdma_cm_event& event) {
  Result<void> next;
  switch (static_cast<int>(event.event)) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
      phase_ = Phase::kResolvingRoute;
      if (rdma_resolve_route(id_, kResolveTimeout * attempts_) != 0) next = errno_code(errno);
      break;
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
      next = request_connection();
      break;
    case RDMA_CM_EVENT_ADDR_ERROR:
    case RDMA_CM_EVENT_ROUTE_ERROR:
      on_not_resolved(error_of(event, EHOSTUNREACH));
      break;
    case RDMA_CM_EVENT_ESTABLISHED:
      on_established(event.param.conn);
      break;
    case RDMA_CM_EVENT_CONNECT_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
      if (is_opening()) fail(error_of(event, ETIMEDOUT));
      break;
    case RDMA_CM_EVENT_REJECTED:
      if (is_opening()) fail(ECONNREFUSED);
      break;
    case RDMA_CM_EVENT_DISCONNECTED:
      if (connection_ != nullptr) connection_->on_disconnected();
      if (is_opening()) fail(ECONNRESET);
      (void)rdma_disconnect(id_);  // answers the peer's CM
      break;
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
      if (connection_ != nullptr) connection_->on_removed();
      if (is_opening()) fail(ENODEV);
      break;
    default:  // says nothing about a connection
      break;
  }
  if (!next) fail(next.error().value());
}

}  // namespace anyrdma::rsocket
