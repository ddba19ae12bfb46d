// Links between the members of a fabric. Every member listens on a Unix socket, a file in a
// directory that only their user can enter (place.h). It connects to another member when it has the
// first packet for it. The sockets show which members exist and when they end. Packets go through
// shared memory, one ring per direction, as soon as both sides have mapped it. Before that, or if
// memory or descriptors have run out, they go through the socket, one message each. Order is kept
// per pair and direction.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "transport/fabric/datagram.h"
#include "transport/fabric/packet_ring.h"
#include "transport/fabric/rendezvous/slot.h"
#include "transport/realtime/descriptor.h"
#include "transport/realtime/shared_memory.h"
#include "verbs/result.h"
#include "verbs/soft/packet.h"
#include "verbs/soft/ring.h"

namespace anyrdma::transport::fabric {

struct MeshConfig {
  uid_t uid = 0;       ///< the user of the other end (SO_PEERCRED)
  int directory = -1;  ///< the directory of the sockets; must stay open as long as the mesh
  std::string path;    ///< path of that directory
  std::string name;    ///< the socket of slot n is the file "<name>n"
  Slot self{};
  std::uint64_t incarnation = 0;
  /// The largest number of packets that wait for one peer to read. More are dropped, and
  /// retransmitted by the protocol.
  std::size_t queue_max = 8192;
  bool rings = true;  ///< false: all packets go through sockets, as if memory had run out
};
inline constexpr std::size_t kGiftsMax = 4;

/// The links of one process. Not thread-safe: used inside the critical section, with thread
/// cancellation off. No call blocks except flush().
class Mesh {
 public:
  /// The receiver of packets and events. Called only from poll() and transmit(); may call only
  /// send().
  class Receiver {
   public:
    virtual ~Receiver() = default;
    virtual void on_packet(verbs::soft::PacketPtr packet) = 0;
    /// The process at that slot has ended or never existed. All its packets were delivered before.
    /// Packets of the next process at that slot come at the next poll() at the earliest.
    virtual void on_gone(Slot slot) = 0;
    /// Returns the descriptors to send with the hello to that slot, at most kGiftsMax. They must
    /// stay open until this function or on_gone() is called again for that slot.
    virtual std::vector<int> gifts_for(Slot /*slot*/) { return {}; }
    /// Receives the descriptors of the process at that slot, before any of its packets. Called
    /// again when that process connects again; not called when either side has run out of
    /// descriptors.
    virtual void on_gifts(Slot /*slot*/, std::uint64_t /*incarnation*/,
                          // An override takes ownership of the descriptors.
                          // NOLINTNEXTLINE(performance-unnecessary-value-param)
                          std::vector<realtime::Descriptor> /*gifts*/) {}
  };

  /// Creates this process's socket and listens. Replaces a socket of that name that a dead process
  /// has left. The owner of the slot removes the socket later. Errors: EMFILE, ENFILE, ENOMEM,
  /// EACCES ... if no socket can be created. `pool` and `receiver` must outlive the mesh.
  [[nodiscard]] static verbs::Result<std::unique_ptr<Mesh>> create(const MeshConfig& config,
                                                                   verbs::soft::PacketPool& pool,
                                                                   Receiver& receiver);
  ~Mesh();

  /// Returns a descriptor that is readable when poll() has something to do, unless set_awake(true)
  /// is in effect.
  [[nodiscard]] int fd() const { return epoll_.get(); }

  /// Queues a packet for another slot; transmit() sends it.
  void send(Slot to, verbs::soft::PacketPtr packet);
  /// Sends queued messages until the peers' sockets are full.
  void transmit();
  /// Receives messages, and sends queued ones if a socket has become writable. Stops after a few
  /// hundred packets. False: there was nothing to do.
  bool poll();
  /// Like the function above, for a caller that polls without pause: most calls read only shared
  /// memory and make no system call.
  bool glance();
  /// True: a thread calls glance() all the time, so peers need not make fd() readable for packets
  /// in shared memory. False: no thread does so any more. Then call poll() once more, for packets
  /// that arrived just before.
  void set_awake(bool awake);
  /// Whether to call poll() soon although fd() is not readable: a peer's queue of connections was
  /// full, or descriptors had run out.
  [[nodiscard]] bool wants_retry() const { return retry_; }
  /// Whether to call poll() at once although fd() is not readable: the last call stopped early.
  [[nodiscard]] bool has_more() const { return more_; }

  /// Waits until no message is queued, at most for `limit`.
  void flush(std::chrono::milliseconds limit);
  /// Returns the number of packets that wait for room.
  [[nodiscard]] std::size_t queued() const;
  /// Whether so many packets wait for the process at that slot that senders should wait if they
  /// can.
  [[nodiscard]] bool is_full(Slot to) const {
    const std::unique_ptr<Peer>& peer = peers_[value(to)];
    return peer && peer->out.size() >= config_.queue_max / 8;
  }
  /// Returns the number of packets that were dropped because a peer's queue was full.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

  /// Closes all sockets; later packets are dropped. Connected peers see this process leave, unless
  /// another process (the parent of a fork) has the same sockets open.
  void close();

 private:
  struct Peer;
  /// The shared memory that this process writes packets to; the peer maps the same memory.
  struct OutRing {
    explicit OutRing(realtime::SharedMemory mapped)
        : memory(std::move(mapped)), writer(memory.bytes()) {}
    realtime::SharedMemory memory;
    PacketRingWriter writer;
    bool taken = false;    ///< the peer has mapped it
    bool begun = false;    ///< the peer knows that packets come through the shared memory
    bool written = false;  ///< packets were written since the last test whether the peer sleeps
  };
  /// The shared memory that the peer writes packets to.
  struct InRing {
    explicit InRing(realtime::SharedMemory mapped)
        : memory(std::move(mapped)), reader(memory.bytes()) {}
    realtime::SharedMemory memory;
    PacketRingReader reader;
    bool begun = false;
  };
  /// One connection. Its peer is unknown until the peer's hello has arrived.
  struct Link {
    realtime::Descriptor fd;
    Peer* peer = nullptr;
    bool greeted = false;  ///< the peer's hello has arrived
    bool closed = false;
    bool watches_output = false;
    bool owes_bell = false;
    std::unique_ptr<OutRing> out;
    std::unique_ptr<InRing> in;
  };
  struct Peer {
    Slot slot{};
    std::uint64_t incarnation = 0;  ///< 0: not known yet
    std::vector<Link*> links;       ///< open ones, oldest first; the first carries what we send
    verbs::soft::Ring<verbs::soft::PacketPtr> out;
    bool waiting = false;  ///< in dirty_
    bool stalled = false;  ///< in stalled_
  };
  struct Batch;

  Mesh(const MeshConfig& config, verbs::soft::PacketPool& pool, Receiver& receiver);
  [[nodiscard]] verbs::Result<void> listen();

  [[nodiscard]] Peer& peer_at(Slot slot);
  Link* add_link(realtime::Descriptor fd);
  [[nodiscard]] bool same_user(int fd) const;
  void watch_output(Link& link, bool on);

  // --- connections and their ends (mesh.cc)
  void accept_all();
  [[nodiscard]] int connect(Peer& peer);
  [[nodiscard]] bool greet(Link& link);
  [[nodiscard]] bool receive_hello(Link& link);
  [[nodiscard]] bool has_other_owner(const Hello& hello) const;
  [[nodiscard]] bool on_hello(Link& link, const Hello& hello,
                              std::vector<realtime::Descriptor> descriptors);
  [[nodiscard]] bool take_ring(Link& link, const realtime::Descriptor& memory);
  void attach(Link& link, Peer& peer);
  void lose(Peer& peer);
  void mark_closed(Link& link);
  void bury_closed();
  void bury(Link& link);

  // --- packets (mesh_traffic.cc)
  void mark_dirty(Peer& peer);
  void transmit(Peer& peer);
  [[nodiscard]] bool write_at_once(Peer& peer, const verbs::soft::Packet& packet);
  [[nodiscard]] bool begin_ring(Link& link);
  void transmit_by_ring(Peer& peer, Link& link);
  void write_waiting(Peer& peer, Link& link);
  void transmit_by_socket(Peer& peer, Link& link);
  [[nodiscard]] int send_batch(Peer& peer, Link& link);
  [[nodiscard]] int send_notice(Link& link, MessageKind kind);
  void ring_bell(Link& link);

  void try_again();
  [[nodiscard]] bool poll_sockets();
  [[nodiscard]] bool poll_rings();
  void look_for_room();
  void arm();
  void on_writable(Link& link);
  [[nodiscard]] bool receive(Link& link);
  [[nodiscard]] bool ends_reading(Link& link, int error);
  [[nodiscard]] bool on_message(Link& link, std::size_t index, std::size_t size);
  [[nodiscard]] bool on_notice(Link& link, MessageKind kind);
  bool take_from_ring(Link& link, std::size_t limit);

  MeshConfig config_;
  verbs::soft::PacketPool& pool_;
  Receiver& receiver_;
  realtime::Descriptor epoll_;
  realtime::Descriptor listener_;
  std::vector<std::unique_ptr<Link>> links_;
  std::array<std::unique_ptr<Peer>, kSlotCount> peers_;
  std::vector<Peer*> dirty_;    ///< peers with something queued that no full socket holds up
  std::vector<Peer*> stalled_;  ///< peers with something queued that a full ring holds up
  std::vector<Link*> rings_;    ///< those that packets come through
  std::vector<Link*> closed_;
  std::unique_ptr<Batch> batch_;
  std::uint64_t dropped_ = 0;
  unsigned glances_ = 0;
  bool awake_ = false;
  bool more_ = false;
  bool retry_ = false;
};

}  // namespace anyrdma::transport::fabric
