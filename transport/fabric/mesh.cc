#include "transport/fabric/mesh.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <utility>

#include "transport/fabric/descriptor_passing.h"
#include "transport/fabric/mesh_internal.h"
#include "transport/fabric/socket_file.h"
#include "verbs/assert.h"

namespace anyrdma::transport::fabric {
namespace {

/// All that a ring can hold.
constexpr std::size_t kPacketsMax = kRingDataBytes / packet_ring::kGranule;
constexpr int kSocketBytes = 1 << 20;  // as much as the system allows
constexpr int kSocketType = SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC;

SocketFile address_of(const MeshConfig& config, Slot slot) {
  return {config.directory, config.path, config.name + std::to_string(value(slot))};
}

realtime::Descriptor make_socket() {
  realtime::Descriptor fd(::socket(AF_UNIX, kSocketType, 0));
  if (fd) ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDBUF, &kSocketBytes, sizeof kSocketBytes);
  return fd;
}

/// Once in a process: packets wait, and nothing else would say why.
void say_out_of_resources() {
  static std::atomic_flag said;
  if (said.test_and_set()) return;
  std::fputs(
      "anyrdma: this process has no descriptors or memory left for packets of another process, "
      "which wait until it has some: raise the limits (ulimit -n, ulimit -v).\n",
      stderr);
}

}  // namespace

// --- life ---------------------------------------------------------------------------------------

Mesh::Mesh(const MeshConfig& config, verbs::soft::PacketPool& pool, Receiver& receiver)
    : config_(config), pool_(pool), receiver_(receiver), batch_(std::make_unique<Batch>()) {}

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
  const SocketFile mine = address_of(config_, config_.self);
  (void)::unlink(mine.address.sun_path);
  if (::bind(listener_.get(), mine.get(), mine.length) != 0) return verbs::errno_code(errno);
  // A umask may have removed permissions of the user; other users cannot enter the directory.
  (void)::chmod(mine.address.sun_path, 0600);
  if (::listen(listener_.get(), SOMAXCONN) != 0) return verbs::errno_code(errno);
  epoll_event event{};
  event.events = EPOLLIN;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, listener_.get(), &event) != 0)
    return verbs::errno_code(errno);
  return {};
}

void Mesh::close() {
  dirty_.clear();
  stalled_.clear();
  rings_.clear();
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
    say_out_of_resources();
    // A listener that cannot be served would be readable all the time: look away until the retry.
    epoll_event event{};
    CM_ASSERT(::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, listener_.get(), &event) == 0);
    retry_ = true;
    return;
  }
}

/// Makes the peer's first link. EAGAIN: try later; other errors: no process of this fabric is
/// there.
int Mesh::connect(Peer& peer) {
  realtime::Descriptor fd = make_socket();
  if (!fd && out_of_resources(errno)) {
    say_out_of_resources();
    return EAGAIN;
  }
  if (!fd) return errno;
  const SocketFile theirs = address_of(config_, peer.slot);
  while (::connect(fd.get(), theirs.get(), theirs.length) != 0)
    if (errno != EINTR) return errno;
  if (!same_user(fd.get())) return EPERM;
  Link* link = add_link(std::move(fd));
  if (link == nullptr) return EAGAIN;
  attach(*link, peer);
  return greet(*link) ? 0 : ECONNRESET;
}

/// Says who we are, and gives the peer what we will write into; without what cannot be made.
bool Mesh::greet(Link& link) {
  realtime::Descriptor memory;
  if (config_.rings) {
    if (auto made = realtime::SharedMemory::create(kRingBytes, memory))
      link.out = std::make_unique<OutRing>(std::move(*made));
  }
  CM_ASSERT(link.peer != nullptr);
  std::vector<int> along = receiver_.gifts_for(link.peer->slot);
  CM_ASSERT(along.size() <= kGiftsMax);
  if (link.out) along.insert(along.begin(), memory.get());
  Hello hello{.slot = config_.self,
              .descriptors = static_cast<std::uint8_t>(along.size()),
              .ring = link.out != nullptr,
              .incarnation = config_.incarnation};
  if (send_message(link.fd.get(), hello.serialize(), along) >= 0) return true;
  if (errno != ETOOMANYREFS) return false;
  link.out.reset();
  hello.descriptors = 0;
  hello.ring = false;
  return send_message(link.fd.get(), hello.serialize(), {}) >= 0;
}

void Mesh::attach(Link& link, Peer& peer) {
  link.peer = &peer;
  peer.links.push_back(&link);
}

bool Mesh::receive_hello(Link& link) {
  Preamble bytes;
  ReceivedMessage message = receive_message(link.fd.get(), bytes);
  if (message.size < 0) return !ends_reading(link, errno);
  const bool whole = message.size == std::ssize(bytes) && !message.truncated;
  const std::optional<Hello> hello = whole ? Hello::parse(bytes) : std::nullopt;
  const bool another = hello && has_other_owner(*hello);
  if (!hello || !on_hello(link, *hello, std::move(message.descriptors))) {
    mark_closed(link);
    return false;
  }
  // What the new owner of a slot says is read once the receiver has dealt with the old one's end:
  // numbers of connections and queue pairs begin anew.
  return !another;
}

/// Whether another process had the slot, whose end is yet to be read.
bool Mesh::has_other_owner(const Hello& hello) const {
  const std::unique_ptr<Peer>& peer = peers_[value(hello.slot)];
  return peer && peer->incarnation != 0 && peer->incarnation != hello.incarnation;
}

bool Mesh::on_hello(Link& link, const Hello& hello, std::vector<realtime::Descriptor> descriptors) {
  if (hello.version != kMeshVersion) return false;
  if (link.peer != nullptr && link.peer->slot != hello.slot) return false;
  const bool another = has_other_owner(hello);
  Peer& peer = peer_at(hello.slot);
  if (another) {
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
  if (descriptors.empty() || descriptors.size() != hello.descriptors) return true;
  if (hello.ring) {
    if (!take_ring(link, descriptors.front())) return false;
    descriptors.erase(descriptors.begin());
  }
  if (!descriptors.empty())
    receiver_.on_gifts(hello.slot, hello.incarnation, std::move(descriptors));
  return true;
}

/// False: nothing that our software would send. What cannot be mapped for now is not needed.
bool Mesh::take_ring(Link& link, const realtime::Descriptor& memory) {
  if (!config_.rings) return true;
  auto mapped = realtime::SharedMemory::map(memory.get(), kRingBytes);
  if (!mapped) return mapped.error().value() != EINVAL;
  if (send_notice(link, MessageKind::kRingTaken) == 0)
    link.in = std::make_unique<InRing>(std::move(*mapped));
  return true;
}

// --- endings ------------------------------------------------------------------------------------

/// No process is there, or it has ended.
void Mesh::lose(Peer& peer) {
  peer.out.clear();
  peer.incarnation = 0;
  receiver_.on_gone(peer.slot);
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
  // When sending failed, there may be more to read; but a peer that lives on cannot go on for ever.
  ::shutdown(link.fd.get(), SHUT_RD);
  while (receive(link)) continue;
  if (link.in && link.in->begun) (void)take_from_ring(link, kPacketsMax);
  if (Peer* peer = link.peer) {
    std::erase(peer->links, &link);
    if (peer->links.empty()) {
      lose(*peer);
    } else if (!peer->out.empty()) {
      mark_dirty(*peer);
    }
  }
  std::erase(rings_, &link);
  std::erase_if(links_, [&link](const auto& each) { return each.get() == &link; });
}

}  // namespace anyrdma::transport::fabric
