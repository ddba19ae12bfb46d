// Links between the processes of a fabric. Every process listens on a Unix socket, a file in a
// directory that only its user can enter (place.h). A process connects to another one when it has
// the first packet for it. The sockets show which processes exist and when they end. Packets go
// through shared memory, one ring buffer for each direction, as soon as both sides have mapped it.
// Before that, or if memory or descriptors have run out, each packet is one message through the
// socket. Packets between two processes keep their order in each direction.
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
  uid_t uid = 0;  ///< the user of the other end (SO_PEERCRED)

  /// Descriptor of the directory of the sockets; must stay open as long as the Mesh exists.
  int directory = -1;
  std::string path;  ///< path of that directory
  std::string name;  ///< the socket of slot n is the file "<name>n"
  Slot self{};
  std::uint64_t incarnation = 0;
  /// The largest number of packets that wait for one peer to read them. Further packets are
  /// dropped; the RDMA protocol sends them again.
  std::size_t queue_max = 8192;
  bool rings = true;  ///< false: all packets go through sockets, as if memory had run out
};
inline constexpr std::size_t kGiftsMax = 4;

/// The links of one process to the other processes. Not thread-safe: call all functions inside the
/// critical section (verbs::Runtime::enter), with thread cancellation disabled. No function blocks
/// except flush().
class Mesh {
 public:
  /// The interface of the object that receives packets and events. Its functions are called only
  /// from poll() and transmit(), and may call only send().
  class Receiver {
   public:
    virtual ~Receiver() = default;
    virtual void on_packet(verbs::soft::PacketPtr packet) = 0;
    /// The process with number `slot` has ended, or never existed. All its packets were delivered
    /// before. If another process takes that number, its packets come at the next poll() at the
    /// earliest.
    virtual void on_gone(Slot slot) = 0;
    /// Returns the descriptors to send to the process with number `slot` when a connection begins,
    /// at most kGiftsMax. The descriptors must stay open until this function or on_gone() is called
    /// again for that process.
    virtual std::vector<int> gifts_for(Slot /*slot*/) { return {}; }
    /// Receives the descriptors of the process with that number, before any of its packets. Called
    /// again when that process connects again. Not called when either process has run out of
    /// descriptors.
    virtual void on_gifts(Slot /*slot*/, std::uint64_t /*incarnation*/,
                          // An override takes ownership of the descriptors.
                          // NOLINTNEXTLINE(performance-unnecessary-value-param)
                          std::vector<realtime::Descriptor> /*gifts*/) {}
  };

  /// Creates this process's socket and listens on it. Replaces a socket of the same name that a
  /// killed process has left. The Registry removes the socket later. Errors: EMFILE, ENFILE,
  /// ENOMEM, EACCES ... if no socket can be created. `pool` and `receiver` must outlive the mesh.
  [[nodiscard]] static verbs::Result<std::unique_ptr<Mesh>> create(const MeshConfig& config,
                                                                   verbs::soft::PacketPool& pool,
                                                                   Receiver& receiver);
  ~Mesh();

  /// Returns a descriptor that becomes readable when poll() has something to do. While
  /// set_awake(true) is in effect it may stay unreadable.
  [[nodiscard]] int fd() const { return epoll_.get(); }

  /// Queues a packet for the process with number `to`. transmit() sends it.
  void send(Slot to, verbs::soft::PacketPtr packet);
  /// Sends queued messages until the sockets accept no more.
  void transmit();
  /// Receives messages, and sends queued messages if a socket has become writable. Returns after a
  /// few hundred packets, even if more wait. False: there was nothing to do.
  bool poll();
  /// Like poll(), for a caller that polls without pause. Most calls read only shared memory and
  /// make no system call.
  bool glance();
  /// Says whether a thread of this process calls glance() all the time. If true, peers need not
  /// make fd() readable for packets in shared memory. After set_awake(false), call poll() once
  /// more, for packets that arrived just before.
  void set_awake(bool awake);
  /// Whether to call poll() soon although fd() is not readable, because a peer's queue of
  /// connections was full or descriptors had run out.
  [[nodiscard]] bool wants_retry() const { return retry_; }
  /// Whether to call poll() at once although fd() is not readable, because the last call returned
  /// early.
  [[nodiscard]] bool has_more() const { return more_; }

  /// Waits until no message is queued, at most for the time `limit`.
  void flush(std::chrono::milliseconds limit);
  /// Returns the number of packets that are queued because a socket or ring buffer is full.
  [[nodiscard]] std::size_t queued() const;
  /// Whether so many packets wait for the process with number `to` that senders should wait, if
  /// they can.
  [[nodiscard]] bool is_full(Slot to) const {
    const std::unique_ptr<Peer>& peer = peers_[value(to)];
    return peer && peer->out.size() >= config_.queue_max / 8;
  }
  /// Returns the number of packets that were dropped because a peer's queue was full.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

  /// Closes all sockets; later packets are dropped. Connected peers see this process leave. They do
  /// not see that while another process (the parent of a fork) has the same sockets open.
  void close();

 private:
  struct Peer;
  /// The ring buffer in shared memory to which this process writes packets. The peer maps the same
  /// memory.
  struct OutRing {
    explicit OutRing(realtime::SharedMemory mapped)
        : memory(std::move(mapped)), writer(memory.bytes()) {}
    realtime::SharedMemory memory;
    PacketRingWriter writer;
    bool taken = false;  ///< the peer has mapped it
    bool begun = false;  ///< the peer knows that packets come through the shared memory

    /// Packets were written since this process last checked whether the peer sleeps.
    bool written = false;
  };
  /// The ring buffer in shared memory to which the peer writes packets.
  struct InRing {
    explicit InRing(realtime::SharedMemory mapped)
        : memory(std::move(mapped)), reader(memory.bytes()) {}
    realtime::SharedMemory memory;
    PacketRingReader reader;
    bool begun = false;
  };
  /// One connection to another process. The peer is unknown until its Hello has arrived.
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

    /// Open connections, oldest first; the first one carries the packets that this process sends.
    std::vector<Link*> links;
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
