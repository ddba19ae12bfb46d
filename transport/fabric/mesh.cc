#include "transport/fabric/mesh.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <utility>

#include "transport/fabric/descriptor_passing.h"
#include "verbs/assert.h"

namespace anyrdma::transport::fabric {
namespace {

using verbs::soft::PacketPtr;

constexpr std::size_t kBatch = 16;
constexpr int kBatchesAtOnce = 8;  // per link and poll: others want their turn
constexpr int kEventsAtOnce = 64;
constexpr int kSocketBytes = 1 << 20;  // as much as the system allows
constexpr int kSocketType = SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC;

struct AbstractAddress {
  sockaddr_un address{};
  socklen_t length = 0;
};

AbstractAddress address_of(const MeshConfig& config, Slot slot) {
  const std::string name = config.name + "-" + std::to_string(value(slot));
  AbstractAddress result;
  result.address.sun_family = AF_UNIX;
  CM_ASSERT(name.size() < sizeof result.address.sun_path);
  std::ranges::copy(name, result.address.sun_path + 1);  // a zero in front: no file
  result.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return result;
}

realtime::Descriptor make_socket() {
  realtime::Descriptor fd(::socket(AF_UNIX, kSocketType, 0));
  if (fd) ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDBUF, &kSocketBytes, sizeof kSocketBytes);
  return fd;
}

bool out_of_resources(int error) {
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}

}  // namespace

/// Room for one sendmmsg or recvmmsg.
struct Mesh::Batch {
  std::array<mmsghdr, kBatch> messages{};
  std::array<std::array<iovec, 2>, kBatch> pieces{};
  std::array<Preamble, kBatch> preambles{};
  std::array<PacketPtr, kBatch> packets{};

  void set(std::size_t i, std::uint8_t* payload, std::size_t size) {
    pieces[i] = {iovec{preambles[i].data(), kPreambleBytes}, iovec{payload, size}};
    messages[i] = {};
    messages[i].msg_hdr.msg_iov = pieces[i].data();
    messages[i].msg_hdr.msg_iovlen = pieces[i].size();
  }
};

// --- life ---------------------------------------------------------------------------------------

Mesh::Mesh(const MeshConfig& config, verbs::soft::PacketPool& pool, Receiver& receiver)
    : config_(config), pool_(pool), receiver_(receiver), batch_(std::make_unique<Batch>()) {
  CM_ASSERT(config.gifts.size() <= kGiftsMax);
}

Mesh::~Mesh() = default;

verbs::Result<std::unique_ptr<Mesh>> Mesh::create(const MeshConfig& config,
                                                  verbs::soft::PacketPool& pool,
                                                  Receiver& receiver) {
  std::unique_ptr<Mesh> mesh(new Mesh(config, pool, receiver));
  if (verbs::Result<void> listening = mesh->listen(); !listening) return listening.error();
  return mesh;
}

verbs::Result<void> Mesh::listen() {
  epoll_ = realtime::Descriptor(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_) return verbs::errno_code(errno);
  listener_ = make_socket();
  if (!listener_) return verbs::errno_code(errno);
  const AbstractAddress mine = address_of(config_, config_.self);
  const auto* address = reinterpret_cast<const sockaddr*>(&mine.address);
  if (::bind(listener_.get(), address, mine.length) != 0) return verbs::errno_code(errno);
  if (::listen(listener_.get(), SOMAXCONN) != 0) return verbs::errno_code(errno);
  epoll_event event{};
  event.events = EPOLLIN;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, listener_.get(), &event) != 0)
    return verbs::errno_code(errno);
  return {};
}

void Mesh::close() {
  dirty_.clear();
  closed_.clear();
  for (auto& peer : peers_) peer.reset();
  links_.clear();
  listener_.reset();
  epoll_.reset();
}

// --- connections --------------------------------------------------------------------------------

Mesh::Peer& Mesh::peer_at(Slot slot) {
  std::unique_ptr<Peer>& peer = peers_[value(slot)];
  if (!peer) {
    peer = std::make_unique<Peer>();
    peer->slot = slot;
  }
  return *peer;
}

Mesh::Link* Mesh::add_link(realtime::Descriptor fd) {
  auto link = std::make_unique<Link>();
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = link.get();
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd.get(), &event) != 0) return nullptr;
  link->fd = std::move(fd);
  links_.push_back(std::move(link));
  return links_.back().get();
}

bool Mesh::same_user(int fd) const {
  ucred other{};
  socklen_t length = sizeof other;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &other, &length) == 0 &&
         other.uid == config_.uid;
}

void Mesh::watch_output(Link& link, bool on) {
  if (link.watches_output == on || link.closed) return;
  epoll_event event{};
  event.events = on ? EPOLLIN | EPOLLOUT : EPOLLIN;
  event.data.ptr = &link;
  CM_ASSERT(::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, link.fd.get(), &event) == 0);
  link.watches_output = on;
}

void Mesh::accept_all() {
  while (true) {
    realtime::Descriptor fd(
        ::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd) {
      if (same_user(fd.get())) (void)add_link(std::move(fd));
      continue;
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (!out_of_resources(errno)) return;
    // A listener that cannot be served would be readable all the time: look away until the retry.
    epoll_event event{};
    CM_ASSERT(::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, listener_.get(), &event) == 0);
    retry_ = true;
    return;
  }
}

/// Makes the peer's first link. EAGAIN: later; other errors: nobody (of ours) is there.
int Mesh::connect(Peer& peer) {
  realtime::Descriptor fd = make_socket();
  if (!fd) return out_of_resources(errno) ? EAGAIN : errno;
  const AbstractAddress theirs = address_of(config_, peer.slot);
  const auto* address = reinterpret_cast<const sockaddr*>(&theirs.address);
  while (::connect(fd.get(), address, theirs.length) != 0)
    if (errno != EINTR) return errno;
  if (!same_user(fd.get())) return EPERM;
  Link* link = add_link(std::move(fd));
  if (link == nullptr) return EAGAIN;
  attach(*link, peer);
  return greet(*link) ? 0 : ECONNRESET;
}

bool Mesh::greet(Link& link) const {
  Hello hello{.slot = config_.self,
              .descriptors = static_cast<std::uint8_t>(config_.gifts.size()),
              .incarnation = config_.incarnation};
  if (send_message(link.fd.get(), hello.serialize(), config_.gifts) >= 0) return true;
  if (errno != ETOOMANYREFS) return false;
  hello.descriptors = 0;
  return send_message(link.fd.get(), hello.serialize(), {}) >= 0;
}

void Mesh::attach(Link& link, Peer& peer) {
  link.peer = &peer;
  peer.links.push_back(&link);
}

// --- sending ------------------------------------------------------------------------------------

void Mesh::send(Slot to, PacketPtr packet) {
  if (!epoll_) return;
  Peer& peer = peer_at(to);
  if (peer.out.size() >= config_.queue_max) {
    ++dropped_;
    return;
  }
  peer.out.push_back(std::move(packet));
  if (!peer.waiting) dirty_.push_back(&peer);
  peer.waiting = true;
}

void Mesh::transmit() {
  while (!dirty_.empty()) {
    // Losing one may queue for another, so the list grows under the loop.
    for (std::size_t i = 0; i < dirty_.size(); ++i) {  // NOLINT(modernize-loop-convert)
      dirty_[i]->waiting = false;
      transmit(*dirty_[i]);
    }
    dirty_.clear();
    bury_closed();  // what waits may go over another link
  }
}

void Mesh::transmit(Peer& peer) {
  if (peer.links.empty() && !peer.out.empty()) {
    const int error = connect(peer);
    if (error == EAGAIN) retry_ = true;
    if (error != 0 && error != EAGAIN && peer.links.empty()) lose(peer);
  }
  if (peer.links.empty() || peer.links.front()->watches_output) return;
  Link& link = *peer.links.front();
  while (!peer.out.empty() && !link.closed) {
    const int error = send_batch(peer, link);
    if (error == EAGAIN || out_of_resources(error)) return watch_output(link, true);
    if (error != 0) mark_closed(link);
  }
}

int Mesh::send_batch(Peer& peer, Link& link) {
  const std::size_t count = std::min(kBatch, peer.out.size());
  for (std::size_t i = 0; i < count; ++i) {
    verbs::soft::Packet& packet = *peer.out[i];
    batch_->preambles[i] = preamble_of(packet);
    batch_->set(i, packet.storage.data(), packet.size);
  }
  const int sent = ::sendmmsg(link.fd.get(), batch_->messages.data(), static_cast<unsigned>(count),
                              MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) return errno == EINTR ? 0 : errno;
  for (int i = 0; i < sent; ++i) peer.out.pop_front();
  return 0;
}

/// Nobody is there (any more).
void Mesh::lose(Peer& peer) {
  peer.out.clear();
  peer.incarnation = 0;
  receiver_.on_gone(peer.slot);
}

std::size_t Mesh::queued() const {
  std::size_t sum = 0;
  for (const auto& peer : peers_)
    if (peer) sum += peer->out.size();
  return sum;
}

void Mesh::flush(std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  transmit();
  while (queued() > 0) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return;
    // A peer whose queue of connections is full says nothing when that changes.
    const auto patience = std::min<std::chrono::milliseconds::rep>(retry_ ? 1 : 100, left.count());
    pollfd entry{epoll_.get(), POLLIN, 0};
    (void)::poll(&entry, 1, static_cast<int>(patience));
    (void)poll();
    transmit();
  }
}

// --- receiving ----------------------------------------------------------------------------------

bool Mesh::poll() {
  if (!epoll_) return false;
  if (retry_) {
    retry_ = false;
    epoll_event event{};
    event.events = EPOLLIN;
    CM_ASSERT(::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, listener_.get(), &event) == 0);
    for (auto& peer : peers_) {
      if (!peer || peer->out.empty() || peer->waiting) continue;
      peer->waiting = true;
      dirty_.push_back(peer.get());
    }
  }
  std::array<epoll_event, kEventsAtOnce> events;
  const int count = ::epoll_wait(epoll_.get(), events.data(), kEventsAtOnce, 0);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    auto* link = static_cast<Link*>(event.data.ptr);
    if (link == nullptr) {
      accept_all();
      continue;
    }
    if ((event.events & EPOLLOUT) != 0) on_writable(*link);
    for (int round = 0; round < kBatchesAtOnce && receive(*link); ++round) {
    }
  }
  bury_closed();
  return count > 0;
}

void Mesh::on_writable(Link& link) {
  watch_output(link, false);
  if (link.peer == nullptr || link.peer->waiting) return;
  link.peer->waiting = true;
  dirty_.push_back(link.peer);
}

/// What an error of receiving means: true, if there is nothing more for now.
bool Mesh::ends_reading(Link& link, int error) {
  // ECONNRESET comes once, in front of what the peer sent before it went: read on.
  if (error == EINTR || error == ECONNRESET) return false;
  if (error != EAGAIN && !out_of_resources(error)) mark_closed(link);
  return true;
}

/// Takes in up to a batch. False: no more for now.
bool Mesh::receive(Link& link) {
  if (!link.greeted) return receive_hello(link);
  for (std::size_t i = 0; i < kBatch; ++i) {
    if (!batch_->packets[i]) batch_->packets[i] = pool_.take();
    batch_->set(i, batch_->packets[i]->storage.data(), verbs::soft::kPacketBytesMax);
  }
  const int count =
      ::recvmmsg(link.fd.get(), batch_->messages.data(), kBatch, MSG_DONTWAIT, nullptr);
  if (count < 0) return !ends_reading(link, errno);
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (on_message(at, batch_->messages[at].msg_len)) continue;
    mark_closed(link);
    return false;
  }
  return count == kBatch;
}

/// False: the end, or something that our software would not send.
bool Mesh::on_message(std::size_t index, std::size_t size) {
  if (size < kPreambleBytes) return false;
  if ((batch_->messages[index].msg_hdr.msg_flags & MSG_TRUNC) != 0) return false;
  const PreambleView preamble(batch_->preambles[index]);
  PacketPtr packet = std::move(batch_->packets[index]);
  if (!read_preamble(preamble, *packet)) return false;
  packet->size = static_cast<std::uint16_t>(size - kPreambleBytes);
  receiver_.on_packet(std::move(packet));
  return true;
}

bool Mesh::receive_hello(Link& link) {
  Preamble bytes;
  ReceivedMessage message = receive_message(link.fd.get(), bytes);
  if (message.size < 0) return !ends_reading(link, errno);
  const bool whole = message.size == std::ssize(bytes) && !message.truncated;
  const std::optional<Hello> hello = whole ? Hello::parse(bytes) : std::nullopt;
  if (hello && on_hello(link, *hello, std::move(message.descriptors))) return true;
  mark_closed(link);
  return false;
}

bool Mesh::on_hello(Link& link, const Hello& hello, std::vector<realtime::Descriptor> descriptors) {
  if (hello.version != kMeshVersion) return false;
  if (link.peer != nullptr && link.peer->slot != hello.slot) return false;
  Peer& peer = peer_at(hello.slot);
  if (peer.incarnation != 0 && peer.incarnation != hello.incarnation) {
    // Another process has the slot, and the end of the old one's connections is yet to be read.
    for (Link* old : std::exchange(peer.links, {})) {
      old->peer = nullptr;
      if (old != &link) mark_closed(*old);
    }
    link.peer = nullptr;
    lose(peer);
  }
  peer.incarnation = hello.incarnation;
  link.greeted = true;
  if (link.peer == nullptr) {
    attach(link, peer);
    (void)greet(link);  // when it has gone already, what it sent is still to be read
  }
  if (!descriptors.empty() && descriptors.size() == hello.descriptors)
    receiver_.on_gifts(hello.slot, hello.incarnation, std::move(descriptors));
  return true;
}

void Mesh::mark_closed(Link& link) {
  if (link.closed) return;
  link.closed = true;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, link.fd.get(), nullptr);
  closed_.push_back(&link);
}

void Mesh::bury_closed() {
  while (!closed_.empty()) {
    // A dying process may have connected to us and sent its last words just before.
    accept_all();
    // Receiving may open links, so the list may grow under the loop.
    for (std::size_t i = 0; i < links_.size(); ++i) {  // NOLINT(modernize-loop-convert)
      while (!links_[i]->greeted && !links_[i]->closed && receive(*links_[i])) continue;
    }
    Link* const link = closed_.back();
    closed_.pop_back();
    bury(*link);
  }
}

void Mesh::bury(Link& link) {
  while (receive(link)) {  // when sending failed, there may be more to read
  }
  if (Peer* peer = link.peer) {
    std::erase(peer->links, &link);
    if (peer->links.empty()) {
      lose(*peer);
    } else if (!peer->waiting && !peer->out.empty()) {
      peer->waiting = true;
      dirty_.push_back(peer);
    }
  }
  std::erase_if(links_, [&link](const auto& each) { return each.get() == &link; });
}

}  // namespace anyrdma::transport::fabric
