#include "cm/rsocket/stream.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

namespace anyrdma::rsocket {
Result<std::shared_ptr<Stream>> Stream::with_channel(int family) {
  rdma_event_channel* const channel = rdma_create_event_channel();
  if (channel == nullptr) return errno_code(errno);
  std::shared_ptr<Stream> stream(new Stream(family, channel));
  if (channel->fd < 0) return errno_code(ENOSYS);
  if (::fcntl(channel->fd, F_SETFL, O_NONBLOCK) != 0) return errno_code(errno);
  return stream;
}

Result<std::shared_ptr<Stream>> Stream::create(int family) {
  auto stream = with_channel(family);
  if (!stream) return stream;
  if (rdma_create_id((*stream)->channel_, &(*stream)->id_, nullptr, RDMA_PS_TCP) != 0) {
    return errno_code(errno);
  }
  return stream;
}

Stream::~Stream() {
  connection_.reset();
  if (id_ != nullptr) (void)rdma_destroy_id(id_);
  rdma_destroy_event_channel(channel_);
  if (number_ >= 0) ::close(number_);
}

Result<void> Stream::bind(const sockaddr* address, socklen_t length) {
  const Lock lock(mutex_);
  if (phase_ != Phase::kInitial) return errno_code(EINVAL);
  if (address->sa_family != family_) return errno_code(EAFNOSUPPORT);
  if (length < name_of(*address).length) return errno_code(EINVAL);
  Name copy = name_of(*address);
  if (rdma_bind_addr(id_, reinterpret_cast<sockaddr*>(&copy.storage)) != 0) {
    return errno_code(errno);
  }
  phase_ = Phase::kBound;
  return {};
}

Result<void> Stream::listen(int backlog) {
  const Lock lock(mutex_);
  if (phase_ == Phase::kListening) return {};
  if (phase_ != Phase::kBound && phase_ != Phase::kInitial) return errno_code(EINVAL);
  if (rdma_listen(id_, std::max(backlog, 0)) != 0) return errno_code(errno);
  // As many as the CM holds for a backlog of 0.
  constexpr int kDefaultBacklog = 1024;
  backlog_ = static_cast<std::size_t>(backlog > 0 ? backlog : kDefaultBacklog);
  phase_ = Phase::kListening;
  Service::own().care_for(shared_from_this());
  return {};
}

bool Stream::is_connected() const {
  return phase_ == Phase::kConnected && connection_->ends().connected();
}

int Stream::take_error() {
  if (error_ != 0) return std::exchange(error_, 0);
  return phase_ == Phase::kConnected ? connection_->ends().error : 0;
}

void Stream::send_control(Control control) {
  if (is_connected() && connection_->flow().can_control()) connection_->send_control(control);
}

Result<void> Stream::shutdown(int how) {
  if (how != SHUT_RD && how != SHUT_WR && how != SHUT_RDWR) return errno_code(EINVAL);
  Lock lock(mutex_);
  if (phase_ != Phase::kConnected) return errno_code(ENOTCONN);
  end(lock, how);
  return {};
}

void Stream::end(Lock& lock, int how) {
  (void)process();
  if (!is_connected()) return;
  Ends& ends = connection_->ends();
  const Ends before = ends;
  if (how != SHUT_WR) ends.readable = false;
  if (how != SHUT_RD) ends.writable = false;
  ends.shut = ends.shut || !ends.writable;
  wake();
  const bool all = !ends.readable && !ends.writable;
  const bool tell = all ? before.readable || before.writable : before.writable && !ends.writable;
  if (!tell) return;
  wait_to_the_end(lock, std::nullopt,
                  [this] { return !is_connected() || connection_->flow().can_control(); });
  send_control(all ? Control::kDisconnect : Control::kShutdown);
}

// Also if the socket is non-blocking, and if signals come: the program cannot repeat the call.
void Stream::wait_to_the_end(Lock& lock, const Deadline& deadline,
                             const std::function<bool()>& condition) {
  for (;;) {
    const auto waited = wait(lock, true, deadline, condition);
    if (waited || waited.error() != errno_code(EINTR)) return;
  }
}

// The peer must get all that was sent before the end of the queue pair.
void Stream::close() {
  Lock lock(mutex_);
  if (phase_ == Phase::kAccepting) {
    wait_to_the_end(lock, options_.linger(), [this] { return phase_ != Phase::kAccepting; });
  }
  if (phase_ == Phase::kConnected) {
    end(lock, SHUT_RDWR);
    wait_to_the_end(lock, options_.linger(), [this] { return connection_->drained(); });
    (void)rdma_disconnect(id_);
  }
  // The address is free at once, although other threads may still hold the socket.
  if (phase_ == Phase::kListening) {
    accepted_.clear();
    (void)rdma_destroy_id(std::exchange(id_, nullptr));
  }
  closed_ = true;
  wake();
}

// --- the service thread --------------------------------------------------------------------------

Care Stream::serve() {
  const Lock lock(mutex_);
  if (closed_) return {};
  if (phase_ == Phase::kListening || is_opening()) {
    if (process()) wake();
    if (phase_ == Phase::kListening || is_opening()) return {.watched = true, .next = {}};
  }
  keep_alive();
  return {.watched = false, .next = next_keepalive_};
}

void Stream::keep_alive() {
  const auto idle = options_.keep_alive();
  if (!idle || !is_connected()) {
    next_keepalive_.reset();
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (!next_keepalive_) next_keepalive_ = now + *idle;
  if (now < *next_keepalive_) return;
  if (process()) wake();
  send_control(Control::kKeepAlive);
  next_keepalive_ = now + *idle;
}

// --- waiting -------------------------------------------------------------------------------------

bool Stream::process() {
  if (phase_ == Phase::kListening) return take_requests();
  const bool completions = connection_ != nullptr && connection_->process();
  return take_events() || completions;
}

short Stream::state(short events) const {
  int found = 0;
  switch (phase_) {
    case Phase::kInitial:
    case Phase::kBound:
      return static_cast<short>(POLLHUP | (events & POLLOUT));  // as TCP
    case Phase::kListening:
      return static_cast<short>(accepted_.empty() && error_ == 0 ? 0
                                                                 : events & (POLLIN | POLLRDNORM));
    case Phase::kResolvingAddress:
    case Phase::kResolvingRoute:
    case Phase::kConnecting:
    case Phase::kAccepting:
      return 0;
    case Phase::kFailed:
      return static_cast<short>((events & (POLLIN | POLLOUT)) | POLLERR | POLLHUP);
    case Phase::kConnected:
      break;
  }
  const Ends& ends = connection_->ends();
  const Flow& flow = connection_->flow();
  if (flow.has_data() || !ends.readable) found |= events & (POLLIN | POLLRDNORM);
  if (!ends.readable) found |= events & POLLRDHUP;
  if (flow.can_send() || !ends.writable) found |= events & (POLLOUT | POLLWRNORM);
  if (ends.disconnected) found |= POLLHUP;
  if (ends.error != 0) found |= POLLERR;
  return static_cast<short>(found);
}

void Stream::descriptors(std::vector<pollfd>& all) const {
  if (phase_ == Phase::kListening && accepted_.size() >= backlog_) return;
  all.push_back({.fd = channel_->fd, .events = POLLIN, .revents = 0});
  if (connection_ != nullptr) {
    all.push_back({.fd = connection_->fd(), .events = POLLIN, .revents = 0});
  }
}

bool Stream::request_notifications() {
  return connection_ != nullptr && connection_->arm();
}

bool Stream::take_notifications() {
  return connection_ != nullptr && connection_->take_notifications();
}

// --- options -------------------------------------------------------------------------------------

Result<void> Stream::set_option(int level, int name, std::span<const std::byte> value) {
  const Lock lock(mutex_);
  auto done = options_.set(level, name, value, connection_ != nullptr, id_);
  if (done && is_connected() && (name == SO_KEEPALIVE || name == TCP_KEEPIDLE)) {
    next_keepalive_.reset();
    if (options_.keep_alive()) Service::own().care_for(shared_from_this());
  }
  return done;
}

Result<std::size_t> Stream::option(int level, int name, std::span<std::byte> value) {
  const Lock lock(mutex_);
  if (level != SOL_SOCKET || name != SO_ERROR) return options_.get(level, name, value);
  if (process()) wake();
  const int error = take_error();
  const std::size_t length = std::min(sizeof error, value.size());
  std::memcpy(value.data(), &error, length);
  return length;
}

// --- names ---------------------------------------------------------------------------------------

Result<Name> Stream::own_name() {
  const Lock lock(mutex_);
  if (closed_) return errno_code(EBADF);
  const sockaddr* const own = rdma_get_local_addr(id_);
  Name name;
  if (own->sa_family == 0) {
    name.storage.ss_family = static_cast<sa_family_t>(family_);
    return name_of(*name.raw());
  }
  return name_of(*own);
}

Result<Name> Stream::peer_name() {
  const Lock lock(mutex_);
  if (phase_ != Phase::kConnected && phase_ != Phase::kAccepting) return errno_code(ENOTCONN);
  return name_of(*rdma_get_peer_addr(id_));
}

}  // namespace anyrdma::rsocket
