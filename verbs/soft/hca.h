// The software HCA: one RoCE device. Verbs calls, packets and time in; packets, MADs, completion
// and asynchronous events out. It never reads a clock or a socket.
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

/// The properties and limits of a device. Defaults resemble a current RoCE NIC; tests of odd
/// devices change single fields.
struct HcaConfig {
  std::string name = "anyrdma0";
  wire::Guid node_guid{0x0200'00ff'fe00'0001};
  ibv_mtu active_mtu = IBV_MTU_4096;
  std::uint32_t qpn_first = 0x11;     ///< first QPN handed out; must be > 1
  std::uint32_t qpn_count = 1 << 16;  ///< QPNs are [first, first + count), reused round-robin
  std::uint8_t local_ca_ack_delay = 15;
  /// Shorter local ACK timeouts take this long, 4.096 us * 2^n: some NICs have such a minimum.
  std::uint8_t min_ack_timeout = 0;
  /// A device with this limit, or a limit above the number of QPNs, reports and grants the smaller
  /// number.
  std::uint32_t max_qp = 65536;
  std::uint32_t max_cq = 65536;
  std::uint32_t max_mr = 1 << 20;  ///< as max_qp: of regions, and of windows, there are kKeysMost
  std::uint32_t max_mw = 1 << 20;  ///< 0: no memory windows, no invalidation
  std::uint32_t max_pd = 65536;
  std::size_t max_dm_size = std::size_t{256} * 1024;  ///< of device memory in all; 0: none
  bool on_demand_paging = true;
  std::uint32_t max_cqe = 4194303;
  std::uint32_t max_qp_wr = 32768;
  std::uint32_t max_sge = 32;
  std::uint32_t max_inline_data = 1024;
  std::uint8_t max_qp_rd_atom = 16;
  std::uint8_t max_qp_init_rd_atom = 16;
  /// The vendor and the options that a QP offers its peer (enhanced connection establishment).
  /// None, as rxe: EOPNOTSUPP.
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
  /// What the port says it is: IBV_LINK_LAYER_ETHERNET or _INFINIBAND. With InfiniBand's it has
  /// kInfinibandLid, and an address needs no GRH: for programs that know no GIDs. Packets stay RoCE
  /// v2 and that LID is the device's first GID, so it takes a network of which all hosts have one.
  std::uint8_t link_layer = IBV_LINK_LAYER_ETHERNET;
  bool uc = true;   ///< unreliable connections
  bool xrc = true;  ///< extended connections
  std::uint32_t max_xrcd = 65536;
  /// An ibv_atomic_cap, what the device says of its atomics; IBV_ATOMIC_NONE: it has none. They are
  /// the processor's own, so IBV_ATOMIC_GLOB were true as well; but devices that are sold say
  /// IBV_ATOMIC_HCA, and UCX uses no others.
  std::uint8_t atomics = IBV_ATOMIC_HCA;

  bool operator==(const HcaConfig&) const = default;
};

/// Most regions of a device, and most windows: three bytes of a key name one or the other.
inline constexpr std::uint32_t kKeysMost = 0xffffff / 2;
/// QPNs are below: the last one means multicast.
inline constexpr std::uint32_t kQpnEnd = 0xffffff;

/// The only LID, that of all ports alike.
inline constexpr std::uint16_t kInfinibandLid = 1;

/// Bytes of every management datagram.
inline constexpr std::size_t kMadBytes = 256;

/// Where a MAD goes to or came from.
struct MadAddress {
  ibv_gid source{};
  ibv_gid destination{};
  wire::Qpn qpn = wire::kGsiQpn;  ///< the peer's QP
  std::uint8_t traffic_class = 0;
};

/// How many objects were made on a host so far.
struct MadeObjects {
  std::uint64_t queue_pairs = 0;
  std::uint64_t completion_queues = 0;
  std::uint64_t shared_receive_queues = 0;
};

/// One queue pair of a host.
struct ObjectName {
  std::uint64_t made = 0;    ///< the n-th that was made there; 0: see `number`
  std::uint32_t number = 0;  ///< the QPN
};

/// Where packets go. Inside the critical section.
class Outlet {
 public:
  virtual ~Outlet() = default;
  /// Whether a packet to that queue pair would be lost for want of room. Those of services without
  /// acknowledgements then wait, as on a link with flow control (IEEE 802.1Qbb), until resume().
  [[nodiscard]] virtual bool is_full(wire::Qpn destination) const = 0;
};

/// Implements the provider for exactly one device. All functions of the network side must be called
/// inside the Runtime's critical section; the Provider functions and the context->ops enter it.
class Hca : public Provider {
 public:
  /// `runtime` and `random` outlive the HCA; `pool` may be shared by the HCAs of one world.
  [[nodiscard]] static std::unique_ptr<Hca> create(Runtime& runtime, Random& random,
                                                   PacketPool& pool, const HcaConfig& config);

  // --- port and address table -------------------------------------------------------------------
  /// Puts a GID (IPv4-mapped or IPv6; RoCE v2) at a table index; all-zero empties the index.
  virtual void set_gid(std::uint32_t index, const ibv_gid& gid) = 0;
  virtual void set_port_state(ibv_port_state state) = 0;
  /// The table by index, all-zero where empty; for those already inside the critical section, who
  /// cannot use query_gid and query_port. Valid until the next set_gid.
  [[nodiscard]] virtual std::span<const ibv_gid> gids() const = 0;
  [[nodiscard]] virtual ibv_port_state port_state() const = 0;
  [[nodiscard]] virtual const HcaConfig& config() const = 0;
  [[nodiscard]] virtual ibv_device* device() = 0;

  // --- network side (sans-I/O) ------------------------------------------------------------------
  /// A datagram has arrived. Malformed or unexpected ones are dropped and counted.
  virtual void on_packet(Instant now, PacketPtr packet) = 0;
  virtual void on_timer(Instant now) = 0;
  /// The peers' queue pairs with `number` in the bits of `mask` have ended with their process. A
  /// NIC would retry as often as configured. Here requests that wait for their answer end with
  /// IBV_WC_RETRY_EXC_ERR after one timeout of the shortest kind, so that the connection manager's
  /// event comes first, as on a NIC. Requests without a timeout wait for ever. `gids`: theirs;
  /// empty: only they have such numbers.
  virtual void on_peers_gone(Instant now, std::uint32_t number, std::uint32_t mask,
                             std::span<const ibv_gid> gids) = 0;
  /// The next deadline of on_timer(); nullopt: none.
  [[nodiscard]] virtual std::optional<Instant> next_deadline() const = 0;
  /// The next datagram to send; null: there is none.
  [[nodiscard]] virtual PacketPtr next_packet() = 0;

  // --- management QP ----------------------------------------------------------------------------
  /// Sends one MAD from QP1 (UD SEND with the well-known QKey); it comes out of next_packet().
  virtual void send_mad(const MadAddress& to, std::span<const std::uint8_t, kMadBytes> mad) = 0;
  /// A MAD that has arrived on QP1.
  struct ReceivedMad {
    MadAddress from;  ///< source is the peer, destination is us
    PacketPtr packet;
    std::span<const std::uint8_t, kMadBytes> mad;  ///< view into packet
  };
  /// The next MAD that arrived on QP1; nullopt when there is none.
  [[nodiscard]] virtual std::optional<ReceivedMad> next_mad() = 0;

  // --- faults and removal -----------------------------------------------------------------------
  /// The device goes away: every QP to error, later verbs calls fail with EIO, no more packets;
  /// contexts get IBV_EVENT_DEVICE_FATAL. Destroy calls still work.
  virtual void remove() = 0;
  /// Sets the gate that is called before calls that open, create, modify or post; null removes it.
  /// Without a gate, posting and polling cost nothing more.
  virtual void set_call_gate(CallGate* gate) = 0;
  /// Numbers queue pairs and completion queues by the host's counters, so that the n-th made on a
  /// host can be named whatever its device. The counters outlive the HCA.
  virtual void count_with(MadeObjects& made) = 0;
  /// The queue pair fails by itself: to ERR, with IBV_EVENT_QP_FATAL, _QP_REQ_ERR or
  /// _QP_ACCESS_ERR. ENOENT: there is none; EINVAL: not an event that it can have in its state.
  [[nodiscard]] virtual Result<void> fail_qp(const ObjectName& qp, ibv_event_type event) = 0;
  /// The completion queue is lost: IBV_EVENT_CQ_ERR, and IBV_EVENT_QP_FATAL to the queue pairs on
  /// it, as when there is no room for a completion. ENOENT; EALREADY.
  [[nodiscard]] virtual Result<void> overrun_cq(std::uint64_t made) = 0;
  /// The shared receive queue is lost: IBV_EVENT_SRQ_ERR, and IBV_EVENT_QP_FATAL to the queue pairs
  /// that draw from it. ENOENT.
  [[nodiscard]] virtual Result<void> fail_srq(std::uint64_t made) = 0;
  /// Raises an event that is about the device or its port, and nothing else.
  virtual void raise_event(ibv_event_type event) = 0;

  /// Allows outgoing packets whose payload is still in the application's memory (packet.h). Their
  /// receiver must call Packet::keep_payload() before it reads their bytes, and must pass them on
  /// inside this process only.
  virtual void lend_payloads() = 0;

  /// Why packets were dropped, for traces and tests.
  struct Counters {
    std::uint64_t packets_in = 0;
    std::uint64_t packets_out = 0;
    std::uint64_t malformed = 0;
    std::uint64_t unknown_qp = 0;
    std::uint64_t bad_icrc = 0;
    std::uint64_t wrong_state = 0;
    std::uint64_t bad_queue_key = 0;
    std::uint64_t no_receive = 0;       ///< no receive for a message that is never repeated
    std::uint64_t unknown_group = 0;    ///< multicast to a group without an attached QP
    std::uint64_t broken_messages = 0;  ///< packets of unreliable messages that cannot be taken
    std::uint64_t too_long = 0;         ///< a datagram longer than the MTU, never sent
    std::uint64_t retransmitted = 0;
    std::uint64_t duplicates = 0;
    std::uint64_t rnr_naks_sent = 0;
    std::uint64_t near_operations = 0;  ///< begun here and done without packets
  };
  [[nodiscard]] virtual const Counters& counters() const = 0;

  /// Sets the oracle for space at destinations; null: there is always space. Call it before the
  /// first context is opened, outside the critical section. It must outlive the HCA.
  virtual void set_outlet(Outlet* outlet) = 0;
  /// Call when there may be room for packets again. Inside the critical section.
  virtual void resume() = 0;
  /// Sets the guard around access to applications' memory, which may be invalid
  /// (MemoryTable::Guard); may be null. Call it before the first context is opened, outside the
  /// critical section.
  virtual void set_memory_guard(bool (*guard)(void (*body)(void*), void* context)) = 0;
  /// Sets the implementation of RDMA without packets; may be null. Call it before the first context
  /// is opened, outside the critical section. It must outlive the HCA.
  virtual void set_near_memory(NearMemory* near) = 0;
  /// Sets the memory order that the device guarantees, and the object that decides within it; the
  /// default is strict. Not together with near memory. Call it before the first context is opened;
  /// the chooser must outlive the HCA.
  virtual void set_memory_model(MemoryProfile profile, MemoryChooser& chooser) = 0;

  // --- checkers ---------------------------------------------------------------------------------
  /// Null for none. While there is no queue pair, and no other thread in a verbs call; the observer
  /// outlives the HCA, or is exchanged before it goes.
  virtual void set_observer(HcaObserver* observer) = 0;
  /// Judges from now on what the program does with memory and keys that the device uses; null:
  /// never again. While there is no queue pair. The sink outlives the HCA or is exchanged before.
  virtual void set_ownership_sink(OwnershipSink* sink) = 0;
  [[nodiscard]] virtual Census census() const = 0;
  [[nodiscard]] virtual QpCensus census_of(const ibv_qp& qp) const = 0;
  [[nodiscard]] virtual SrqCensus census_of(const ibv_srq& srq) const = 0;
  /// Whether the queue has dropped completions to make room (IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN).
  [[nodiscard]] virtual bool has_dropped(const ibv_cq& cq) const = 0;
  /// Those that are open, by number.
  [[nodiscard]] virtual std::vector<const ibv_qp*> queue_pairs() const = 0;
  /// A hash of the first `length` bytes that a list names; nullopt when they cannot be read.
  [[nodiscard]] virtual std::optional<std::uint64_t> digest(const ibv_pd* pd,
                                                            std::span<const ibv_sge> list,
                                                            std::uint64_t length) const = 0;
};

}  // namespace anyrdma::verbs::soft
