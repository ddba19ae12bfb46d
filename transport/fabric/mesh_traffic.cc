// How packets go and come.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "transport/fabric/mesh.h"
#include "transport/fabric/mesh_internal.h"
#include "transport/realtime/prompt_call.h"
#include "verbs/assert.h"

namespace anyrdma::transport::fabric {

using verbs::soft::PacketPtr;

namespace {

constexpr int kBatchesAtOnce = 8;  // per link and poll: others want their turn
constexpr int kEventsAtOnce = 64;
constexpr std::size_t kPacketsAtOnce = 256;  // per ring and poll
constexpr unsigned kGlancesPerPoll = 64;

}  // namespace

// --- sending ------------------------------------------------------------------------------------

void Mesh::send(Slot to, PacketPtr packet) {
  if (!epoll_) return;
  Peer& peer = peer_at(to);
  if (write_at_once(peer, *packet)) return;
  if (peer.out.size() >= config_.queue_max) {
    ++dropped_;
    return;
  }
  peer.out.push_back(std::move(packet));
  mark_dirty(peer);
}

void Mesh::mark_dirty(Peer& peer) {
  if (!std::exchange(peer.waiting, true)) dirty_.push_back(&peer);
}

/// Whether nothing stood between the packet and the peer's ring.
bool Mesh::write_at_once(Peer& peer, const verbs::soft::Packet& packet) {
  if (peer.links.empty() || !peer.out.empty()) return false;
  const Link& link = *peer.links.front();
  if (link.closed || !link.out || !link.out->begun) return false;
  if (link.out->writer.write(packet) != PacketRingWriter::Written::kYes) return false;
  link.out->written = true;
  mark_dirty(peer);
  return true;
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
  if (link.out && link.out->taken) {
    transmit_by_ring(peer, link);
  } else {
    transmit_by_socket(peer, link);
  }
}

/// Whether packets go into the ring from now on.
bool Mesh::begin_ring(Link& link) {
  const int error = send_notice(link, MessageKind::kRingBegins);
  link.out->begun = error == 0;
  if (error == EAGAIN || out_of_resources(error)) {
    watch_output(link, true);
  } else if (error != 0) {
    mark_closed(link);
  }
  return link.out->begun;
}

void Mesh::transmit_by_ring(Peer& peer, Link& link) {
  OutRing& ring = *link.out;
  if (!ring.begun && !begin_ring(link)) return;
  write_waiting(peer, link);
  if (std::exchange(ring.written, false) && ring.writer.reader_sleeps()) ring_bell(link);
}

void Mesh::write_waiting(Peer& peer, Link& link) {
  OutRing& ring = *link.out;
  bool asked = false;
  while (!peer.out.empty() && !link.closed) {
    switch (ring.writer.write(*peer.out.front())) {
      case PacketRingWriter::Written::kYes:
        (void)peer.out.pop_front();
        ring.written = true;
        asked = false;
        break;
      case PacketRingWriter::Written::kFull:
        if (asked) {
          if (!std::exchange(peer.stalled, true)) stalled_.push_back(&peer);
          return;
        }
        ring.writer.wait_for_room();
        asked = true;
        break;
      case PacketRingWriter::Written::kBroken:
        mark_closed(link);
        break;
    }
  }
}

void Mesh::transmit_by_socket(Peer& peer, Link& link) {
  while (!peer.out.empty() && !link.closed) {
    const int error = send_batch(peer, link);
    if (error == EAGAIN || out_of_resources(error)) return watch_output(link, true);
    if (error != 0) mark_closed(link);
  }
}

int Mesh::send_notice(Link& link, MessageKind kind) {
  const Preamble bytes = notice(kind);
  constexpr int kFlags = MSG_NOSIGNAL | MSG_DONTWAIT;
  return realtime::prompt_send(link.fd.get(), bytes.data(), bytes.size(), kFlags) >= 0 ? 0 : errno;
}

/// A peer whose socket is full has something to read already.
void Mesh::ring_bell(Link& link) {
  const int error = send_notice(link, MessageKind::kBell);
  link.owes_bell = out_of_resources(error) || error == EINTR;
  if (link.owes_bell) {
    retry_ = true;
  } else if (error != 0 && error != EAGAIN) {
    mark_closed(link);
  }
}

int Mesh::send_batch(Peer& peer, Link& link) {
  const std::size_t count = std::min(kBatch, peer.out.size());
  for (std::size_t i = 0; i < count; ++i) {
    verbs::soft::Packet& packet = *peer.out[i];
    batch_->preambles[i] = preamble_of(packet);
    batch_->set(i, packet.storage.data(), packet.size);
  }
  const int sent =
      realtime::prompt_sendmmsg(link.fd.get(), batch_->messages.data(),
                                static_cast<unsigned>(count), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) return errno == EINTR ? 0 : errno;
  for (int i = 0; i < sent; ++i) peer.out.pop_front();
  return 0;
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
  if (std::exchange(retry_, false)) try_again();
  bool any = poll_sockets();
  any |= poll_rings();
  look_for_room();
  arm();
  return any || more_;
}

bool Mesh::glance() {
  if (!epoll_) return false;
  // Links without a ring speak through their sockets only.
  if (rings_.size() != links_.size() || ++glances_ % kGlancesPerPoll == 0) return poll();
  const bool any = poll_rings();
  look_for_room();
  return any;
}

void Mesh::try_again() {
  epoll_event event{};
  event.events = EPOLLIN;
  CM_ASSERT(::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, listener_.get(), &event) == 0);
  for (const auto& peer : peers_)
    if (peer && !peer->out.empty()) mark_dirty(*peer);
  for (const auto& link : links_)
    if (link->owes_bell && !link->closed) ring_bell(*link);
}

bool Mesh::poll_sockets() {
  std::array<epoll_event, kEventsAtOnce> events;
  const int count = realtime::prompt_epoll(epoll_.get(), events.data(), kEventsAtOnce);
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

bool Mesh::poll_rings() {
  bool any = false;
  for (Link* const link : rings_)
    if (!link->closed) any |= take_from_ring(*link, kPacketsAtOnce);
  bury_closed();
  return any;
}

/// Links that wait for room may continue to write: the reader reported it, or a thread polls
/// anyway.
void Mesh::look_for_room() {
  if (stalled_.empty()) return;
  for (Peer* const peer : std::exchange(stalled_, {})) {
    peer->stalled = false;
    mark_dirty(*peer);
  }
  transmit();
}

void Mesh::set_awake(bool awake) {
  awake_ = awake;
  if (awake) {
    for (Link* const link : rings_) link->in->reader.wake();
  } else {
    arm();
  }
}

/// Lets the writers know that they must tell us, and looks for what came just before.
void Mesh::arm() {
  more_ = false;
  if (awake_) return;
  for (Link* const link : rings_) {
    link->in->reader.sleep();
    more_ |= !link->in->reader.empty();
  }
}

void Mesh::on_writable(Link& link) {
  watch_output(link, false);
  if (link.peer != nullptr) mark_dirty(*link.peer);
}

bool Mesh::take_from_ring(Link& link, std::size_t limit) {
  PacketRingReader& reader = link.in->reader;
  bool any = false;
  while (limit-- > 0 && !reader.empty()) {
    PacketPtr packet = pool_.take();
    const PacketRingReader::Got got = reader.read(*packet);
    if (got == PacketRingReader::Got::kNothing) break;
    any = true;
    if (got == PacketRingReader::Got::kBroken) {
      mark_closed(link);
      return any;
    }
    receiver_.on_packet(std::move(packet));
  }
  if (any && reader.writer_waits()) ring_bell(link);
  return any;
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
      realtime::prompt_recvmmsg(link.fd.get(), batch_->messages.data(), kBatch, MSG_DONTWAIT);
  if (count < 0) return !ends_reading(link, errno);
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (on_message(link, at, batch_->messages[at].msg_len)) continue;
    mark_closed(link);
    return false;
  }
  return count == kBatch;
}

/// False: the end, or something that our software would not send.
bool Mesh::on_message(Link& link, std::size_t index, std::size_t size) {
  if (size < kPreambleBytes) return false;
  if ((batch_->messages[index].msg_hdr.msg_flags & MSG_TRUNC) != 0) return false;
  const PreambleView preamble(batch_->preambles[index]);
  if (kind_of(preamble) != MessageKind::kPacket) return on_notice(link, kind_of(preamble));
  if (link.in && link.in->begun) return false;
  PacketPtr packet = std::move(batch_->packets[index]);
  if (!read_preamble(preamble, *packet)) return false;
  packet->size = static_cast<std::uint16_t>(size - kPreambleBytes);
  receiver_.on_packet(std::move(packet));
  return true;
}

bool Mesh::on_notice(Link& link, MessageKind kind) {
  switch (kind) {
    case MessageKind::kRingTaken:
      if (!link.out || std::exchange(link.out->taken, true)) return false;
      (void)begin_ring(link);
      if (link.peer != nullptr) mark_dirty(*link.peer);
      return true;
    case MessageKind::kRingBegins:
      if (!link.in || std::exchange(link.in->begun, true)) return false;
      if (!link.closed) rings_.push_back(&link);
      return true;
    case MessageKind::kBell:
      return true;  // whoever was woken looks everywhere
    case MessageKind::kHello:
    case MessageKind::kPacket:
      return false;
  }
  return false;
}

}  // namespace anyrdma::transport::fabric
