// The software HCA: one RoCE device. Its inputs are verbs calls, packets and the time; its outputs
// are packets, MADs, completions and asynchronous events. It reads no clock and no socket.
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

/// The properties and limits of a device. Defaults resemble a current RoCE NIC; tests of unusual
/// devices change single fields.
struct HcaConfig {
  std::string name = "anyrdma0";
  wire::Guid node_guid{0x0200'00ff'fe00'0001};
  ibv_mtu active_mtu = IBV_MTU_4096;
  std::uint32_t qpn_first = 0x11;     ///< first QPN handed out; must be > 1
  std::uint32_t qpn_count = 1 << 16;  ///< QPNs are [first, first + count), reused round-robin
  std::uint8_t local_ca_ack_delay = 15;
  /// The least local ACK timeout of the device, as the exponent n of 4.096 us * 2^n. Shorter
  /// timeouts that an application sets take this long, as with some NICs.
  std::uint8_t min_ack_timeout = 0;
  /// Limit of queue pairs. A limit above the number of QPNs (qpn_count) is lowered to that number.
  std::uint32_t max_qp = 65536;
  std::uint32_t max_cq = 65536;
  std::uint32_t max_mr = 1 << 20;  ///< limit of regions; at most kKeysMost
  std::uint32_t max_mw = 1 << 20;  ///< 0: no memory windows, no invalidation
  std::uint32_t max_pd = 65536;
  std::size_t max_dm_size = std::size_t{256} * 1024;  ///< bytes of device memory; 0: none
  bool on_demand_paging = true;
  std::uint32_t max_cqe = 4194303;
  std::uint32_t max_qp_wr = 32768;
  std::uint32_t max_sge = 32;
  std::uint32_t max_inline_data = 1024;
  std::uint8_t max_qp_rd_atom = 16;
  std::uint8_t max_qp_init_rd_atom = 16;
  /// The vendor and the options that a QP offers its peer (enhanced connection establishment).
  /// Default: none, like rxe, so set_ece fails with EOPNOTSUPP.
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
  /// The link layer that the port reports: IBV_LINK_LAYER_ETHERNET or IBV_LINK_LAYER_INFINIBAND. A
  /// port that reports InfiniBand has kInfinibandLid, and addresses need no GRH: for programs
  /// without GIDs. Packets stay RoCE v2, and that LID means the device's first GID. So all hosts
  /// must share one network.
  std::uint8_t link_layer = IBV_LINK_LAYER_ETHERNET;
  bool uc = true;   ///< unreliable connections
  bool xrc = true;  ///< extended connections
  std::uint32_t max_xrcd = 65536;
  /// The ibv_atomic_cap that the device reports; IBV_ATOMIC_NONE: no atomics. Atomics are the
  /// processor's own, so IBV_ATOMIC_GLOB would be true as well. The default is IBV_ATOMIC_HCA
  /// because NICs report it and UCX accepts no other value.
  std::uint8_t atomics = IBV_ATOMIC_HCA;

  bool operator==(const HcaConfig&) const = default;
};

/// The largest number of regions of a device, and of windows: three bytes of a key name one or the
/// other.
inline constexpr std::uint32_t kKeysMost = 0xffffff / 2;
/// One above the largest QPN: QPN 0xffffff means multicast.
inline constexpr std::uint32_t kQpnEnd = 0xffffff;

/// The LID of every port that reports InfiniBand as its link layer.
inline constexpr std::uint16_t kInfinibandLid = 1;

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
  /// The queue pair's number among those created on the host; 0: see `number`.
  std::uint64_t made = 0;
  std::uint32_t number = 0;  ///< the QPN
};

/// Tells whether destinations have room for packets. Called inside the critical section.
class Outlet {
 public:
  virtual ~Outlet() = default;
  /// Whether a packet to that queue pair would be lost because its receiver has no room. Services
  /// without acknowledgements then wait until resume(), as on a link with flow control (IEEE
  /// 802.1Qbb).
  [[nodiscard]] virtual bool is_full(wire::Qpn destination) const = 0;
};

/// Implements the provider for exactly one device. All functions of the network side must be called
/// inside the Runtime's critical section; the Provider functions and the context->ops enter it.
class Hca : public Provider {
 public:
  /// Creates the device. `runtime` and `random` must outlive the HCA; `pool` may be shared by the
  /// HCAs of one world.
  [[nodiscard]] static std::unique_ptr<Hca> create(Runtime& runtime, Random& random,
                                                   PacketPool& pool, const HcaConfig& config);

  // --- port and address table -------------------------------------------------------------------
  /// Sets the GID at an index of the table: IPv4-mapped or IPv6, type RoCE v2. An all-zero GID
  /// empties the index.
  virtual void set_gid(std::uint32_t index, const ibv_gid& gid) = 0;
  virtual void set_port_state(ibv_port_state state) = 0;
  /// Returns the GID table; empty entries are all-zero. For callers inside the critical section,
  /// which cannot call query_gid and query_port. Valid until the next set_gid.
  [[nodiscard]] virtual std::span<const ibv_gid> gids() const = 0;
  [[nodiscard]] virtual ibv_port_state port_state() const = 0;
  [[nodiscard]] virtual const HcaConfig& config() const = 0;
  [[nodiscard]] virtual ibv_device* device() = 0;

  // --- network side (sans-I/O) ------------------------------------------------------------------
  /// Processes a datagram that has arrived. Malformed or unexpected ones are dropped and counted.
  virtual void on_packet(Instant now, PacketPtr packet) = 0;
  virtual void on_timer(Instant now) = 0;
  /// Call when the process that had the peers' queue pairs has ended: those whose number equals
  /// `number` in the bits of `mask`. A NIC would retry as often as configured. Here requests that
  /// wait for an answer end with IBV_WC_RETRY_EXC_ERR after one timeout of the shortest kind, so
  /// that the connection manager's event comes first, as with a NIC. Requests without a timeout
  /// wait for ever. `gids`: the peers' GIDs; empty: only those peers have such numbers.
  virtual void on_peers_gone(Instant now, std::uint32_t number, std::uint32_t mask,
                             std::span<const ibv_gid> gids) = 0;
  /// Returns the next instant at which on_timer() must be called; nullopt: none.
  [[nodiscard]] virtual std::optional<Instant> next_deadline() const = 0;
  /// Returns the next datagram to send; null: there is none.
  [[nodiscard]] virtual PacketPtr next_packet() = 0;

  // --- management QP ----------------------------------------------------------------------------
  /// Sends one MAD from QP1 (UD SEND with the well-known QKey); next_packet() returns its packet.
  virtual void send_mad(const MadAddress& to, std::span<const std::uint8_t, kMadBytes> mad) = 0;
  /// A MAD that has arrived on QP1.
  struct ReceivedMad {
    MadAddress from;  ///< source is the peer, destination is us
    PacketPtr packet;
    std::span<const std::uint8_t, kMadBytes> mad;  ///< view into packet
  };
  /// Returns the next MAD that arrived on QP1; nullopt: there is none.
  [[nodiscard]] virtual std::optional<ReceivedMad> next_mad() = 0;

  // --- faults and removal -----------------------------------------------------------------------
  /// Removes the device: every QP goes to ERR, contexts get IBV_EVENT_DEVICE_FATAL, later verbs
  /// calls fail with EIO, and no packets are sent. Destroy calls still work.
  virtual void remove() = 0;
  /// Sets the gate that is called before calls that open, create, modify or post; null removes it.
  /// Without a gate, posting and polling have no extra cost.
  virtual void set_call_gate(CallGate* gate) = 0;
  /// Sets the host's counters, which number queue pairs and completion queues. So the n-th object
  /// of a host can be named although the host has several devices. The counters must outlive the
  /// HCA.
  virtual void count_with(MadeObjects& made) = 0;
  /// Makes a queue pair fail: it goes to ERR and raises `event`, which is IBV_EVENT_QP_FATAL,
  /// _QP_REQ_ERR or _QP_ACCESS_ERR. ENOENT: no such queue pair; EINVAL: an event that is not
  /// possible in its state.
  [[nodiscard]] virtual Result<void> fail_qp(const ObjectName& qp, ibv_event_type event) = 0;
  /// Makes a completion queue overrun, as when it has no room: raises IBV_EVENT_CQ_ERR, and
  /// IBV_EVENT_QP_FATAL for its queue pairs. `made`: the queue's number among those created on the
  /// host. ENOENT: no such queue; EALREADY: it has overrun.
  [[nodiscard]] virtual Result<void> overrun_cq(std::uint64_t made) = 0;
  /// Makes a shared receive queue fail: raises IBV_EVENT_SRQ_ERR, and IBV_EVENT_QP_FATAL for its
  /// queue pairs. `made`: the queue's number among those created on the host. ENOENT: no such
  /// queue.
  [[nodiscard]] virtual Result<void> fail_srq(std::uint64_t made) = 0;
  /// Raises an asynchronous event about the device or its port, without another effect.
  virtual void raise_event(ibv_event_type event) = 0;

  /// Allows outgoing packets whose payload is still in the application's memory (packet.h). The
  /// receiver must call Packet::keep_payload() before it reads their bytes, and must not pass them
  /// to another process.
  virtual void lend_payloads() = 0;

  /// The numbers of dropped packets by reason, for traces and tests.
  struct Counters {
    std::uint64_t packets_in = 0;
    std::uint64_t packets_out = 0;
    std::uint64_t malformed = 0;
    std::uint64_t unknown_qp = 0;
    std::uint64_t bad_icrc = 0;
    std::uint64_t wrong_state = 0;
    std::uint64_t bad_queue_key = 0;
    /// No receive request for a message of an unreliable service.
    std::uint64_t no_receive = 0;
    std::uint64_t unknown_group = 0;    ///< multicast to a group without an attached QP
    std::uint64_t broken_messages = 0;  ///< packets of unreliable messages that cannot be received
    std::uint64_t too_long = 0;         ///< a datagram longer than the MTU, never sent
    std::uint64_t retransmitted = 0;
    std::uint64_t duplicates = 0;
    std::uint64_t rnr_naks_sent = 0;
    /// Operations of this requester that were done without packets.
    std::uint64_t near_operations = 0;
  };
  [[nodiscard]] virtual const Counters& counters() const = 0;

  /// Sets the object that tells whether destinations have room for packets; null: they always have.
  /// Call it before the first context is opened, outside the critical section. It must outlive the
  /// HCA.
  virtual void set_outlet(Outlet* outlet) = 0;
  /// Call when destinations may have room for packets again. Inside the critical section.
  virtual void resume() = 0;
  /// Sets the guard around access to applications' memory, which may be invalid
  /// (MemoryTable::Guard); may be null. Call it before the first context is opened, outside the
  /// critical section.
  virtual void set_memory_guard(bool (*guard)(void (*body)(void*), void* context)) = 0;
  /// Sets the implementation of RDMA without packets; null: none. Call it before the first context
  /// is opened, outside the critical section. It must outlive the HCA.
  virtual void set_near_memory(NearMemory* near) = 0;
  /// Sets the memory order that the device guarantees, and the object that chooses among the
  /// allowed orders; the default is strict. Must not be used together with near memory. Call it
  /// before the first context is opened; the chooser must outlive the HCA.
  virtual void set_memory_model(MemoryProfile profile, MemoryChooser& chooser) = 0;

  // --- checkers ---------------------------------------------------------------------------------
  /// Sets the observer; null: none. Call it while there is no queue pair and no thread is in a
  /// verbs call. The observer must outlive the HCA, or be replaced before it is destroyed.
  virtual void set_observer(HcaObserver* observer) = 0;
  /// Judges from now on what the program does with memory and keys that the device uses; null:
  /// never again. While there is no queue pair. The sink outlives the HCA or is exchanged before.
  virtual void set_ownership_sink(OwnershipSink* sink) = 0;
  [[nodiscard]] virtual Census census() const = 0;
  [[nodiscard]] virtual QpCensus census_of(const ibv_qp& qp) const = 0;
  [[nodiscard]] virtual SrqCensus census_of(const ibv_srq& srq) const = 0;
  /// Whether the completion queue has dropped completions to make room
  /// (IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN).
  [[nodiscard]] virtual bool has_dropped(const ibv_cq& cq) const = 0;
  /// Returns the open queue pairs, ordered by number.
  [[nodiscard]] virtual std::vector<const ibv_qp*> queue_pairs() const = 0;
  /// Returns a hash of the first `length` bytes of a gather list; nullopt: they cannot be read.
  [[nodiscard]] virtual std::optional<std::uint64_t> digest(const ibv_pd* pd,
                                                            std::span<const ibv_sge> list,
                                                            std::uint64_t length) const = 0;
};

}  // namespace anyrdma::verbs::soft
