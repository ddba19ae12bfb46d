#include "sim/programs/net/streams.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "sim/host.h"
#include "sim/programs/process/supervisor.h"
#include "sim/world.h"

namespace anyrdma::sim::programs {
namespace {

using tcp::Endpoint;
using tcp::State;

constexpr const char* kMeeting = "meeting";
constexpr std::size_t kAtOnce = std::size_t{64} << 10;
/// A host that is paused looks at its timers so often.
constexpr Duration kWhilePaused = std::chrono::milliseconds(200);

std::string name_of(const sockaddr_storage& name, socklen_t size) {
  return {reinterpret_cast<const char*>(&name), std::min<std::size_t>(size, sizeof name)};
}

}  // namespace

Line::Line(Streams& streams, Host& host, const TcpArrival& where, const Endpoint& endpoint)
    : streams_(streams), host_(host), local_(where.local), peer_(where.peer), endpoint_(endpoint) {}

void Line::run() {
  streams_.on_timer(*this);
}

void Line::set_keepalive(const std::optional<tcp::Keepalive>& keepalive) {
  if (over_) return;
  endpoint_.set_keepalive(streams_.supervisor_.world().now(), keepalive);
  streams_.flush(*this);
}

Streams::Streams(Supervisor& supervisor, SocketFiles& files, IpSender& sender,
                 FindListener find_listener)
    : supervisor_(supervisor),
      files_(files),
      sender_(sender),
      find_listener_(std::move(find_listener)),
      random_(supervisor.world().random("tcp")) {}

Streams::~Streams() {
  for (const auto& [number, line] : lines_) supervisor_.world().scheduler().cancel(*line);
}

Line& Streams::add(Host& host, const TcpArrival& where, const Endpoint& endpoint) {
  auto line = std::make_unique<Line>(*this, host, where, endpoint);
  line->number_ = ++made_;
  known_[key_of(host, where)] = line.get();
  return *(lines_[made_] = std::move(line));
}

// --- making connections -------------------------------------------------------------------------

Line& Streams::connect(Host& host, const Address& local, const Address& peer) {
  pump();  // the port may be that of a connection which has just been closed
  const TcpArrival where{.local = local, .peer = peer, .segment = {}};
  if (const auto old = known_.find(key_of(host, where)); old != known_.end()) let_go(*old->second);
  Line& line = add(host, where, Endpoint::connect(next_sequence()));
  flush(line);
  return line;
}

Woken Streams::wait_for(Thread& thread, Line& line, std::optional<Instant> deadline) {
  while (line.is_connecting()) {
    line.waiter_ = &thread;
    const Woken woken = thread.wait("a connection", deadline);
    line.waiter_ = nullptr;
    if (woken != Woken::kReady) return woken;
  }
  return Woken::kReady;
}

int Streams::meet(const Descriptor& socket, Descriptor& end) {
  if (!meeting_) {
    meeting_ = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (const int error = files_.bind(meeting_, kMeeting, SOCK_STREAM); error != 0) return error;
    if (::listen(meeting_.get(), 1) != 0) return errno;
  }
  if (const int error = files_.connect(socket, kMeeting); error != 0) return error;
  end = Descriptor(::accept4(meeting_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  return end ? 0 : errno;
}

void Streams::refuse(const Descriptor& socket) {
  Descriptor end;
  if (meet(socket, end) != 0) return;
  // A Unix socket has an error when its peer is closed with data unread: unix(7) does not say so,
  // the kernel's unix_release_sock() does it.
  const char unread = 0;
  (void)::send(socket.get(), &unread, sizeof unread, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int Streams::attach(Line& line, const Descriptor& socket) {
  if (const int error = meet(socket, line.end_); error != 0) return error;
  if (line.is_connecting()) fill(line, socket);
  go_on(line);
  return 0;
}

// A socket that is not connected yet is not writable, and whoever polls it waits for that.
void Streams::fill(Line& line, const Descriptor& socket) {
  static constexpr std::array<char, 16384> kNothing{};
  for (std::size_t size = kNothing.size(); size != 0;) {
    const ssize_t sent = ::send(socket.get(), kNothing.data(), size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) line.filling_ += static_cast<std::size_t>(sent);
    if (sent < 0 && errno != EINTR) size /= 2;
  }
}

void Streams::unfill(Line& line) {
  std::array<char, 16384> bytes;
  while (line.filling_ != 0) {
    const ssize_t size =
        ::recv(line.end_.get(), bytes.data(), std::min(bytes.size(), line.filling_), MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    line.filling_ -= static_cast<std::size_t>(size);
  }
  line.filling_ = 0;
}

/// Somebody asks for a connection.
void Streams::on_request(Host& host, const TcpArrival& arrival) {
  std::string listener = find_listener_(host, arrival.local, arrival.peer);
  if (listener.empty()) {
    if (const auto answer = tcp::answer_of_nobody(arrival.segment))
      sender_.send(host, arrival.local, arrival.peer, *answer);
    return;
  }
  // As Linux does: who asks will ask again.
  const bool crowded = std::ranges::any_of(
      unaccepted_, [&listener](const Line* each) { return each->listener_ == listener; });
  if (crowded) return;
  Line& line = add(host, arrival, Endpoint::accept(next_sequence(), arrival.segment));
  line.listener_ = std::move(listener);
  flush(line);
}

/// To who listens. Where too many wait to be accepted already, it waits for that, too.
void Streams::offer(Line& line) {
  std::erase(unaccepted_, &line);
  Descriptor end(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // It gets a name of the kernel's, by which it is known when it is accepted.
  sockaddr_storage none{};
  none.ss_family = AF_UNIX;
  (void)::bind(end.get(), reinterpret_cast<const sockaddr*>(&none), sizeof none.ss_family);
  const int error = files_.connect(end, line.listener_);
  if (error == EAGAIN) return unaccepted_.push_back(&line);
  line.listener_.clear();
  if (error != 0) return line.endpoint_.reset();  // it listens no more
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  (void)::getsockname(end.get(), reinterpret_cast<sockaddr*>(&name), &size);
  names_[name_of(name, size)] = &line;
  line.end_ = std::move(end);
}

Line* Streams::of_accepted(const Descriptor& accepted) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  if (::getpeername(accepted.get(), reinterpret_cast<sockaddr*>(&name), &size) != 0) return nullptr;
  const auto found = names_.extract(name_of(name, size));
  return found.empty() ? nullptr : found.mapped();
}

bool Streams::holds(const Host& host, std::uint16_t port, bool reuse,
                    const std::function<bool(const Address&)>& overlaps) {
  pump();  // a program may have closed one
  return std::ranges::any_of(known_, [&](const auto& each) {
    const Line& line = *each.second;
    return &line.host_ == &host && line.local_.port == port && !(reuse && line.reuse_address_) &&
           !is_forgotten(line) && overlaps(line.local_);
  });
}

bool Streams::is_forgotten(const Line& line) const {
  const auto when = line.endpoint_.forgotten_at();
  return when && *when <= supervisor_.world().now();
}

// --- what comes from the network, and in time ---------------------------------------------------

void Streams::on_arrival(Host& host, const TcpArrival& arrival) {
  const auto found = known_.find(key_of(host, arrival));
  Line* line = found == known_.end() ? nullptr : found->second;
  const bool asks = arrival.segment.has(tcp::kSyn) && !arrival.segment.has(tcp::kAck);
  const bool makes_way = line != nullptr && asks && line->endpoint_.state() == State::kTimeWait;
  if (makes_way || (line != nullptr && is_forgotten(*line))) {
    let_go(*line);
    line = nullptr;
  }
  if (line == nullptr) {
    if (asks) return on_request(host, arrival);
    if (const auto answer = tcp::answer_of_nobody(arrival.segment))
      sender_.send(host, arrival.local, arrival.peer, *answer);
    return;
  }
  line->endpoint_.on_segment(supervisor_.world().now(), arrival.segment);
  go_on(*line);
  supervisor_.look();
}

void Streams::on_timer(Line& line) {
  World& world = supervisor_.world();
  if (!line.host_.running()) return world.scheduler().at(line, world.now() + kWhilePaused);
  line.endpoint_.on_timer(world.now());
  go_on(line);
  supervisor_.look();
}

void Streams::on_crash(const Host& host) {
  for (const auto& [number, line] : lines_) {
    if (&line->host_ == &host) forget(*line);
  }
}

// --- what programs do ---------------------------------------------------------------------------

void Streams::pump() {
  for (Line* const line : std::vector<Line*>(unaccepted_)) {
    offer(*line);
    go_on(*line);
  }
  if (watched_ == 0) return;
  std::vector<epoll_event> events(watched_);
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  if (count <= 0) return;
  events.resize(static_cast<std::size_t>(count));
  std::ranges::sort(events, {}, [](const epoll_event& each) { return each.data.u64; });
  for (const epoll_event& event : events) {
    Line& line = *lines_.at(event.data.u64);
    if (line.is_connecting()) {
      if ((event.events & EPOLLHUP) != 0) forget(line);  // nobody waits for it any more
      continue;
    }
    line.gone_ |= (event.events & EPOLLHUP) != 0;
    take_from_program(line);
    go_on(line);
  }
}

/// After anything has happened to it.
void Streams::go_on(Line& line) {
  if (line.over_) return;
  if (line.endpoint_.state() == State::kOpen && !line.listener_.empty() && !line.end_) offer(line);
  const bool refused = line.endpoint_.state() == State::kClosed;
  if (line.filling_ != 0 && !line.is_connecting() && !refused) unfill(line);
  if (line.gone_ || line.full_) take_from_program(line);
  give_to_program(line);
  flush(line);
  const bool unread = line.end_ && !line.endpoint_.received().empty();
  if (line.endpoint_.state() == State::kClosed && !unread) let_go(line);
  watch(line);
  if (line.finished_ && (line.gone_ || line.told_end_) && line.watched_ == 0) line.end_.reset();
  if (line.waiter_ != nullptr && !line.is_connecting()) line.waiter_->wake(Woken::kReady);
}

void Streams::take_from_program(Line& line) {
  Endpoint& endpoint = line.endpoint_;
  std::array<std::uint8_t, kAtOnce> bytes;
  while (line.end_ && !line.finished_ && endpoint.room() != 0) {
    const ssize_t size = ::recv(line.end_.get(), bytes.data(),
                                std::min(bytes.size(), endpoint.room()), MSG_DONTWAIT);
    if (size > 0) {
      endpoint.write(std::span(bytes).first(static_cast<std::size_t>(size)));
      continue;
    }
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) break;
    line.finished_ = true;
    endpoint.finish();
    if (size < 0) endpoint.reset();  // it was closed with data unread
  }
  line.full_ = line.end_ && !line.finished_ && endpoint.room() == 0;
  if (!line.gone_ || endpoint.state() == State::kClosed) return;
  endpoint.stop_reading();
  if (line.abrupt_) endpoint.reset();
}

void Streams::give_to_program(Line& line) {
  Endpoint& endpoint = line.endpoint_;
  while (line.end_ && !endpoint.received().empty()) {
    const auto bytes = endpoint.received();
    const ssize_t size =
        ::send(line.end_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return;
    // Nobody reads it who has shut that direction down.
    endpoint.take(size < 0 ? bytes.size() : static_cast<std::size_t>(size));
  }
  if (!line.end_ || line.told_end_ || !endpoint.at_end()) return;
  ::shutdown(line.end_.get(), SHUT_WR);
  line.told_end_ = true;
}

void Streams::flush(Line& line) {
  World& world = supervisor_.world();
  while (const auto segment = line.endpoint_.next_segment(world.now()))
    sender_.send(line.host_, line.local_, line.peer_, *segment);
  const auto deadline = line.endpoint_.deadline();
  if (deadline) {
    world.scheduler().at(line, *deadline);
  } else {
    world.scheduler().cancel(line);
  }
}

/// The connection is no more, and the program is told.
void Streams::let_go(Line& line) {
  if (line.over_) return;
  // A writer hears that from the kernel.
  if (line.endpoint_.error() != EPIPE) line.error_ = line.endpoint_.error();
  forget(line);
}

void Streams::forget(Line& line) {
  line.over_ = true;
  line.endpoint_ = Endpoint::connect(0);  // what it held is of no use any more
  supervisor_.world().scheduler().cancel(line);
  std::erase(unaccepted_, &line);
  const auto known =
      known_.find(key_of(line.host_, {.local = line.local_, .peer = line.peer_, .segment = {}}));
  if (known != known_.end() && known->second == &line) known_.erase(known);
  watch(line);
  // What is closed with data unread is an error of its own to the kernel.
  std::array<char, 4096> rest;
  const bool refused =
      std::exchange(line.filling_, 0) != 0;  // that is an error to the program, too
  while (line.end_ && !refused &&
         ::recv(line.end_.get(), rest.data(), rest.size(), MSG_DONTWAIT) > 0)
    continue;
  line.end_.reset();
}

/// Our end is looked at for what there may be to do.
void Streams::watch(Line& line) {
  std::uint32_t events = 0;
  const bool wanted =
      line.end_ && !line.over_ && !line.gone_ && !(line.finished_ && line.told_end_);
  if (wanted) {
    events = EPOLLHUP;
    if (!line.finished_ && line.endpoint_.room() != 0) events |= EPOLLIN;
    if (!line.endpoint_.received().empty()) events |= EPOLLOUT;
  }
  if (events == line.watched_) return;
  if (!epoll_) epoll_ = Descriptor(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{.events = events, .data = {.u64 = line.number_}};
  const int operation = events == 0          ? EPOLL_CTL_DEL
                        : line.watched_ == 0 ? EPOLL_CTL_ADD
                                             : EPOLL_CTL_MOD;
  (void)::epoll_ctl(epoll_.get(), operation, line.end_.get(), &event);
  if (operation == EPOLL_CTL_ADD) ++watched_;
  if (operation == EPOLL_CTL_DEL) --watched_;
  line.watched_ = events;
}

}  // namespace anyrdma::sim::programs
