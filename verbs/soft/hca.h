// The software HCA: one RoCE device with one or more ports. Its inputs are verbs calls, packets and
// the time. Its outputs are packets, MADs, completions and asynchronous events. It reads no clock
// and no socket.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "verbs/call_gate.h"
#include "verbs/provider.h"
#include "verbs/random.h"
#include "verbs/runtime.h"
#include "verbs/soft/hca_observer.h"
#include "verbs/soft/memory_profile.h"
#include "verbs/soft/near_memory.h"
#include "verbs/soft/ownership/finding.h"
#include "verbs/soft/packet.h"
#include "verbs/wire/ids.h"

namespace anyrdma::verbs::soft {

/// The properties and limits of a simulated device. The defaults resemble a current RoCE NIC; tests
/// of unusual devices change single fields.
struct HcaConfig {
  std::string name = "anyrdma0";
  wire::Guid node_guid{0x0200'00ff'fe00'0001};
  std::uint8_t ports = 1;  ///< number of ports; the ports are numbered from 1
  ibv_mtu active_mtu = IBV_MTU_4096;
  std::uint32_t qpn_first = 0x11;     ///< first QPN handed out; must be > 1
  std::uint32_t qpn_count = 1 << 16;  ///< QPNs are [first, first + count), reused round-robin
  /// Moves the first keys of regions and windows. Devices with the same QPNs but different values
  /// have different keys, so that a program notices when it uses a wrong peer's key or its own.
  std::uint8_t key_generation = 0;
  std::uint8_t local_ca_ack_delay = 15;
  /// The smallest local ACK timeout of the device, as the exponent n of 4.096 us * 2^n. If an
  /// application sets a shorter timeout, the device uses this one, as some NICs do.
  std::uint8_t min_ack_timeout = 0;
  /// The limit of queue pairs. If the limit is above the number of QPNs (qpn_count), that number is
  /// the limit.
  std::uint32_t max_qp = 65536;
  std::uint32_t max_cq = 65536;
  std::uint32_t max_mr = 1 << 20;  ///< limit of regions; at most kKeysMost

  /// Limit of memory windows; 0: no windows, and no invalidation of keys.
  std::uint32_t max_mw = 1 << 20;
  std::uint32_t max_pd = 65536;
  std::size_t max_dm_size = std::size_t{256} * 1024;  ///< bytes of device memory; 0: none
  bool on_demand_paging = true;
  std::uint32_t max_cqe = 4194303;
  std::uint32_t max_qp_wr = 32768;
  std::uint32_t max_sge = 32;
  std::uint32_t max_inline_data = 1024;
  std::uint8_t max_qp_rd_atom = 16;
  std::uint8_t max_qp_init_rd_atom = 16;
  /// The ECE (enhanced connection establishment) vendor and options that a QP offers its peer. By
  /// default there are none, like for rxe, so ibv_set_ece fails with EOPNOTSUPP.
  struct Ece {
    std::uint32_t vendor_id = 0;  ///< an IEEE OUI, never 0
    std::uint32_t options = 0;
    bool operator==(const Ece&) const = default;
  };
  std::optional<Ece> ece = std::nullopt;
  std::uint32_t max_ah = 65536;
  std::uint32_t max_srq = 65536;  ///< 0: no shared receive queues
  std::uint32_t max_srq_wr = 32768;
  std::uint32_t max_srq_sge = 32;
  std::uint32_t max_mcast_grp = 8192;      ///< 0: no multicast
  std::uint32_t max_mcast_qp_attach = 56;  ///< QPs per group

  /// The link layer that the ports report: IBV_LINK_LAYER_ETHERNET or IBV_LINK_LAYER_INFINIBAND.
  /// InfiniBand is for programs that do not use GIDs: each port has a LID (Hca::set_lids), and
  /// addresses need no GRH. Packets stay RoCE v2.
  std::uint8_t link_layer = IBV_LINK_LAYER_ETHERNET;
  bool uc = true;   ///< unreliable connections
  bool xrc = true;  ///< extended connections
  std::uint32_t max_xrcd = 65536;
  /// Automatic path migration (APM), as NICs with InfiniBand ports have it.
  bool path_migration = false;
  /// The ibv_atomic_cap that the device reports; IBV_ATOMIC_NONE: no atomics. The default is
  /// IBV_ATOMIC_HCA, because NICs report it and UCX accepts no other value. IBV_ATOMIC_GLOB would
  /// be true as well, since the atomics are the processor's own.
  std::uint8_t atomics = IBV_ATOMIC_HCA;
  /// Whether a place of a work queue is free as soon as its request is executed, as with Soft-RoCE.
  /// The user drivers of NICs free the place when a completion that covers it is polled.
  bool free_when_executed = false;
  /// Whether the first receive that is flushed after a request has failed has the status of that
  /// request, as with irdma. On other devices its status is IBV_WC_WR_FLUSH_ERR.
  bool flush_with_cause = false;
  /// Whether a request that is longer than the port's max_msg_sz is accepted, and completes with
  /// IBV_WC_LOC_LEN_ERR (IBTA vol 1, 11.6.2), as on devices whose drivers check no lengths. If not,
  /// posting it fails with EINVAL.
  bool late_length_error = false;

  bool operator==(const HcaConfig&) const = default;
};

/// The largest number of memory regions of a device, and the largest number of its memory windows.
/// Regions and windows share the 24 bits of a key that are its index.
inline constexpr std::uint32_t kKeysMost = 0xffffff / 2;
/// One above the largest QPN: QPN 0xffffff means multicast.
inline constexpr std::uint32_t kQpnEnd = 0xffffff;

/// The largest number of ports of a device.
inline constexpr std::uint8_t kPortsMost = 16;

/// The LIDs of a network's ports, each with the GID that packets to that LID are sent to.
class LidTable {
 public:
  virtual ~LidTable() = default;
  /// Returns the GID of the port that has the LID. Nothing: no port has it.
  [[nodiscard]] virtual std::optional<ibv_gid> gid_of(std::uint16_t lid) const = 0;
  /// Returns the LID of the port to which the table assigns the GID; 0: none.
  [[nodiscard]] virtual std::uint16_t lid_of(const ibv_gid& gid) const = 0;
};

/// Bytes of a management datagram (MAD).
inline constexpr std::size_t kMadBytes = 256;

/// The address that a MAD goes to or came from.
struct MadAddress {
  ibv_gid source{};
  ibv_gid destination{};
  wire::Qpn qpn = wire::kGsiQpn;  ///< the peer's QP
  std::uint8_t traffic_class = 0;
};

/// The numbers of objects that were created on a host so far.
struct MadeObjects {
  std::uint64_t queue_pairs = 0;
  std::uint64_t completion_queues = 0;
  std::uint64_t shared_receive_queues = 0;
};

/// Names one queue pair of a host.
struct ObjectName {
  /// The number of the queue pair among those created on the host, from 1; 0: `number` names the
  /// queue pair.
  std::uint64_t made = 0;
  std::uint32_t number = 0;  ///< the QPN
};

/// Tells the HCA whether the receivers of packets have room for them. Called inside the runtime's
/// critical section.
class Outlet {
 public:
  virtual ~Outlet() = default;
  /// Whether a packet to the queue pair `destination` would be lost because its receiver has no
  /// room. If so, services without acknowledgements wait until resume(), as on a link with flow
  /// control (IEEE 802.1Qbb).
  [[nodiscard]] virtual bool is_full(wire::Qpn destination) const = 0;
};

/// A provider (see Provider) with exactly one device, which is simulated in software. The functions
/// for packets and timers must be called inside the runtime's critical section (Runtime::enter);
/// the Provider functions and the context->ops enter it themselves.
class Hca : public Provider {
 public:
  /// Creates the device. `runtime` and `random` must outlive the HCA. `pool` may be shared by all
  /// HCAs of a simulated world.
  [[nodiscard]] static std::unique_ptr<Hca> create(Runtime& runtime, Random& random,
                                                   PacketPool& pool, const HcaConfig& config);

  // --- ports and address tables -----------------------------------------------------------------
  // A function without the parameter `port` is about port 1. Precondition: there is such a port.

  /// Sets the GID at an index of a port's GID table: IPv4-mapped or IPv6, type RoCE v2. An all-zero
  /// GID empties the entry.
  virtual void set_port_gid(std::uint8_t port, std::uint32_t index, const ibv_gid& gid) = 0;
  void set_gid(std::uint32_t index, const ibv_gid& gid) { set_port_gid(1, index, gid); }
  virtual void set_state_of(std::uint8_t port, ibv_port_state state) = 0;
  void set_port_state(ibv_port_state state) { set_state_of(1, state); }
  /// Returns a port's GID table, in which empty entries are all-zero. For callers inside the
  /// critical section, which cannot call query_gid and query_port. Valid until the next change of
  /// the table.
  [[nodiscard]] virtual std::span<const ibv_gid> gids_of(std::uint8_t port) const = 0;
  [[nodiscard]] std::span<const ibv_gid> gids() const { return gids_of(1); }
  [[nodiscard]] virtual ibv_port_state state_of(std::uint8_t port) const = 0;
  [[nodiscard]] ibv_port_state port_state() const { return state_of(1); }
  /// Sets the LIDs of the network that the ports are in. The table must outlive the HCA. Without a
  /// table, the LID of a port is its number, and packets to a LID stay in the device. Call this
  /// function outside of the critical section.
  virtual void set_lids(const LidTable* lids) = 0;
  [[nodiscard]] virtual const HcaConfig& config() const = 0;
  [[nodiscard]] virtual ibv_device* device() = 0;

  // --- network side (sans-I/O) ------------------------------------------------------------------

  /// Processes a datagram that has arrived at the port Packet::port. If it is malformed or
  /// unexpected, the HCA drops and counts it.
  virtual void on_packet(Instant now, PacketPtr packet) = 0;
  virtual void on_timer(Instant now) = 0;
  /// Ends the requests to queue pairs of a peer process that has ended: those whose QPN equals
  /// `number` in the bits of `mask`. A NIC would retry as often as configured. Here, requests that
  /// wait for an answer end with IBV_WC_RETRY_EXC_ERR after one timeout of the shortest kind. So
  /// the connection manager's event comes first, as with a NIC. Requests without a timeout wait for
  /// ever. `gids`: the GIDs of the peers; empty: any GID, if no other process has such QPNs.
  virtual void on_peers_gone(Instant now, std::uint32_t number, std::uint32_t mask,
                             std::span<const ibv_gid> gids) = 0;
  /// Returns the next instant at which on_timer() must be called; nullopt: there is no such
  /// instant.
  [[nodiscard]] virtual std::optional<Instant> next_deadline() const = 0;
  /// Returns the next datagram to send, from the port Packet::port; null: there is none.
  [[nodiscard]] virtual PacketPtr next_packet() = 0;

  // --- management QP ----------------------------------------------------------------------------

  /// Sends one MAD from QP1, as a UD SEND with the well-known QKey. next_packet() returns its
  /// packet.
  virtual void send_mad(const MadAddress& to, std::span<const std::uint8_t, kMadBytes> mad) = 0;
  /// A MAD that has arrived on QP1.
  struct ReceivedMad {
    MadAddress from;  ///< source is the peer, destination is us
    PacketPtr packet;
    std::span<const std::uint8_t, kMadBytes> mad;  ///< view into packet
  };
  /// Removes and returns the next MAD that has arrived on QP1; nullopt: there is none.
  [[nodiscard]] virtual std::optional<ReceivedMad> next_mad() = 0;

  // --- faults and removal -----------------------------------------------------------------------

  /// Removes the device, like an unplugged NIC: every QP goes to ERR, contexts get
  /// IBV_EVENT_DEVICE_FATAL, and no packets are sent. Later verbs calls fail with EIO, except calls
  /// that destroy objects.
  virtual void remove() = 0;
  /// Sets the gate (CallGate), by which a fault plan makes calls fail. It is called before calls
  /// that open, create, modify or post; null removes it. Without a gate, posting and polling have
  /// no extra cost.
  virtual void set_call_gate(CallGate* gate) = 0;
  /// Sets the host's counters, which number the queue pairs and completion queues of all devices of
  /// the host. With them, a fault plan can name the n-th queue pair of a host. The counters must
  /// outlive the HCA.
  virtual void count_with(MadeObjects& made) = 0;
  /// Makes a queue pair fail: it goes to ERR and raises `event`, which is IBV_EVENT_QP_FATAL,
  /// IBV_EVENT_QP_REQ_ERR or IBV_EVENT_QP_ACCESS_ERR. ENOENT: no such queue pair; EINVAL: the event
  /// is not possible in the state of the queue pair.
  [[nodiscard]] virtual Result<void> fail_qp(const ObjectName& qp, ibv_event_type event) = 0;
  /// Makes a completion queue overrun, as if it were full: raises IBV_EVENT_CQ_ERR, and
  /// IBV_EVENT_QP_FATAL for the queue pairs that use it. `made`: the queue's number among those
  /// created on the host. ENOENT: no such queue; EALREADY: the queue has overrun before.
  [[nodiscard]] virtual Result<void> overrun_cq(std::uint64_t made) = 0;
  /// Makes a shared receive queue fail: raises IBV_EVENT_SRQ_ERR, and IBV_EVENT_QP_FATAL for the
  /// queue pairs that use it. `made`: the queue's number among those created on the host. ENOENT:
  /// no such queue.
  [[nodiscard]] virtual Result<void> fail_srq(std::uint64_t made) = 0;
  /// Raises an asynchronous event of the device or of a port. The event has no other effect.
  virtual void raise_event_of(std::uint8_t port, ibv_event_type event) = 0;
  void raise_event(ibv_event_type event) { raise_event_of(1, event); }

  /// Allows next_packet() to return packets whose payload is still in the application's memory
  /// (packet.h). The receiver of such a packet must call Packet::keep_payload() before it reads the
  /// bytes, and must not pass the packet to another process.
  virtual void lend_payloads() = 0;

  /// Counts of packets of all ports, for traces and tests: of dropped packets, one number for each
  /// reason.
  struct Counters {
    std::uint64_t packets_in = 0;
    std::uint64_t packets_out = 0;
    std::uint64_t malformed = 0;
    std::uint64_t unknown_qp = 0;
    std::uint64_t bad_icrc = 0;
    std::uint64_t wrong_state = 0;
    std::uint64_t bad_queue_key = 0;
    /// Messages of an unreliable service for which there was no receive request.
    std::uint64_t no_receive = 0;
    std::uint64_t unknown_group = 0;    ///< multicast to a group without an attached QP
    std::uint64_t broken_messages = 0;  ///< packets of unreliable messages that cannot be received
    std::uint64_t too_long = 0;         ///< a datagram longer than the MTU, never sent
    std::uint64_t retransmitted = 0;
    std::uint64_t duplicates = 0;
    std::uint64_t rnr_naks_sent = 0;
    /// Operations of this device's requesters that were done without packets.
    std::uint64_t near_operations = 0;
  };
  [[nodiscard]] virtual const Counters& counters() const = 0;
  /// The counts of packets of one port.
  struct PortCounters {
    std::uint64_t packets_in = 0;
    std::uint64_t packets_out = 0;
    std::uint64_t bytes_in = 0;  ///< of the packets, from the BTH to the ICRC
    std::uint64_t bytes_out = 0;
  };
  [[nodiscard]] virtual const PortCounters& counters_of(std::uint8_t port) const = 0;

  /// Sets the object that tells whether receivers have room for packets; null: they always have.
  /// Call this function before the first context is opened, outside of the critical section. The
  /// object must outlive the HCA.
  virtual void set_outlet(Outlet* outlet) = 0;
  /// Continues to send packets. Call this function when receivers may have room for packets again
  /// (Outlet), inside the critical section.
  virtual void resume() = 0;
  /// Sets the function through which the device accesses applications' memory, which may be
  /// unmapped (MemoryTable::Guard). May be null. Call this function before the first context is
  /// opened, outside of the critical section.
  virtual void set_memory_guard(bool (*guard)(void (*body)(void*), void* context)) = 0;
  /// Sets the implementation of RDMA without packets; null: none. Call this function before the
  /// first context is opened, outside of the critical section. The object must outlive the HCA.
  virtual void set_near_memory(NearMemory* near) = 0;
  /// Sets the memory order that the device guarantees, and the object that chooses among the
  /// allowed orders. The default is strict. Must not be used together with near memory. Call this
  /// function before the first context is opened; the chooser must outlive the HCA.
  virtual void set_memory_model(MemoryProfile profile, MemoryChooser& chooser) = 0;

  // --- checkers ---------------------------------------------------------------------------------

  /// Sets the observer of the device (HcaObserver); null: none. Call this function while there is
  /// no queue pair and no thread is in a verbs call. The observer must outlive the HCA, or be
  /// replaced before it is destroyed.
  virtual void set_observer(HcaObserver* observer) = 0;
  /// Sets the sink that gets reports of wrong uses of memory and keys that the device is using;
  /// null: the device no longer checks. Call this function while there is no queue pair. The sink
  /// must outlive the HCA, or be replaced before it is destroyed.
  virtual void set_ownership_sink(OwnershipSink* sink) = 0;
  [[nodiscard]] virtual Census census() const = 0;
  [[nodiscard]] virtual QpCensus census_of(const ibv_qp& qp) const = 0;
  [[nodiscard]] virtual SrqCensus census_of(const ibv_srq& srq) const = 0;
  /// Whether the completion queue has dropped old completions to make room for new ones
  /// (IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN).
  [[nodiscard]] virtual bool has_dropped(const ibv_cq& cq) const = 0;
  /// Returns the open queue pairs, ordered by number.
  [[nodiscard]] virtual std::vector<const ibv_qp*> queue_pairs() const = 0;
  /// Returns a hash of the first `length` bytes of a gather list; nullopt: the memory cannot be
  /// read.
  [[nodiscard]] virtual std::optional<std::uint64_t> digest(const ibv_pd* pd,
                                                            std::span<const ibv_sge> list,
                                                            std::uint64_t length) const = 0;
};

}  // namespace anyrdma::verbs::soft
