// The transport made of the CM agent (on QP1) and the software HCA: what the Linux kernel's cma.c
// and ucma.c do below librdmacm. Sans-I/O: the simulator and fabric drive the same object.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "transport/ibcm/agent.h"
#include "transport/ibcm/profile.h"
#include "transport/soft/network.h"
#include "transport/soft/port_table.h"
#include "transport/transport.h"
#include "verbs/random.h"
#include "verbs/runtime.h"
#include "verbs/soft/hca.h"
#include "verbs/time.h"

namespace anyrdma::transport::soft {

using verbs::Instant;

/// The configuration that a driver sets once.
struct SoftTransportConfig {
  /// Timing constants of the Linux version to resemble.
  ibcm::Profile profile = ibcm::kLinux61;
  /// Local comm ids are (id & mask) | tag, as in ibcm::AgentConfig, so that several processes can
  /// share a host.
  std::uint32_t comm_id_mask = 0xffffffff;
  std::uint32_t comm_id_tag = 0;
  /// A request that finds its listener's backlog full waits for room, up to four seconds, and is
  /// then lost. Zero: it is lost at once, as with Linux (ucma_event_handler), and its sender
  /// repeats it after 4.6 s or more.
  std::size_t waiting_requests_max = 0;
  /// The system's net.ipv6.bindv6only: the default of AFONLY for IPv6 ids.
  bool ipv6_only = false;
  /// True: loopback destinations are looked up like all others, where hosts have such addresses.
  /// False: they mean the host itself, as in Linux.
  bool loopback_is_routed = false;
  /// True: an id that is bound to a loopback address has a device at once, for programs that read
  /// `id->verbs` then (librpma's examples). False: it has none before its address is resolved, as
  /// in Linux.
  bool loopback_has_device = false;
};

/// Observes every CM message, for traces and tests. Called from drain and remove_device; must not
/// call back.
class Observer {
 public:
  using Mad = std::span<const std::uint8_t, ibcm::kMadBytes>;
  virtual ~Observer() = default;
  virtual void on_mad_sent(std::string_view device, const ibcm::Path& path, Mad mad) = 0;
  virtual void on_mad_received(std::string_view device, const ibcm::Path& path, Mad mad) = 0;
  virtual void on_mad_dropped(std::string_view device, ibcm::DropReason reason,
                              std::uint16_t attribute) = 0;
};

/// Decides about connection requests before their listener gets them, for fault injection. Called
/// from drain; must not call back.
class Admission {
 public:
  /// The decision about a request that is not passed to its listener.
  struct Refusal {
    std::uint8_t reason = ibcm::kRejConsumerDefined;
    std::span<const std::uint8_t> private_data;  ///< at most 148 bytes; valid until the next call
    bool unanswered = false;                     ///< nothing is ever sent, nor to its repetitions
    /// Sends nothing and keeps nothing, as Linux does when the listener's backlog is full.
    bool no_room = false;
    /// No refusal at all: an MRA with this time exponent, and the request goes on.
    std::optional<std::uint8_t> postponed{};
  };
  virtual ~Admission() = default;
  /// Called for every request that has found its listener. A refusal is sent as REJ, as if the
  /// listener's owner had rejected it at once. For a datagram service it is a SIDR_REP with status
  /// 2 and the first 136 bytes of the data.
  [[nodiscard]] virtual std::optional<Refusal> on_request(std::string_view device,
                                                          const ibcm::ReqParameters& request) = 0;
  /// The error with which a route lookup ends, and when.
  struct NoRoute {
    int error = 0;            ///< of ROUTE_ERROR
    verbs::Duration after{};  ///< 0: at once
  };
  /// Called while a program resolves a route, with its timeout. From within the call.
  [[nodiscard]] virtual std::optional<NoRoute> on_routing(std::chrono::milliseconds /*timeout*/) {
    return std::nullopt;
  }
};

/// One host (simulator) or one process of a host (fabric). Except where said otherwise, all
/// functions are called inside the runtime's critical section. Upcalls come from drain() only.
/// Destroyed outside the critical section, before its HCAs, and after all endpoints: one that is
/// left must never be used or destroyed any more, which is for the driver to complain of.
class SoftTransport : public Transport {
 public:
  /// Creates the transport. References must outlive it.
  [[nodiscard]] static std::unique_ptr<SoftTransport> create(
      verbs::Runtime& runtime, verbs::Random& random, Network& network, PortTable& ports,
      const SoftTransportConfig& config = {});

  // --- devices ----------------------------------------------------------------------------------
  /// The device's only port is carried by the interface of that index; its GIDs may be set before
  /// or after. Wildcard listeners listen on it from now on. OUTSIDE the critical section (it opens
  /// the device). Errors of open_device; EEXIST: the HCA or the interface is in use.
  [[nodiscard]] virtual Result<void> add_device(verbs::soft::Hca& hca, int interface) = 0;
  /// The device is about to go: DEVICE_REMOVAL to every endpoint attached to it (cma_remove_one),
  /// then each is ended as if destroyed: established ones send one DREQ, found in hca.next_packet()
  /// on return. Wildcard listeners survive. After sending those packets the driver calls
  /// hca.remove(); the HCA itself stays until the transport is gone, because applications hold its
  /// contexts.
  virtual void remove_device(verbs::soft::Hca& hca) = 0;

  // --- processes (verbs::Runtime::process); OUTSIDE the critical section ------------------------
  /// A process begins: its ids show contexts of its own. Errors of open_device.
  [[nodiscard]] virtual Result<void> begin_process(const void* process) = 0;
  /// Ends a process: closes its contexts with all objects on them, without waiting for
  /// acknowledgements. Precondition: its ids are destroyed.
  virtual void end_process(const void* process) = 0;

  // --- changes of the network --------------------------------------------------------------------
  /// Answer to Network::resolve_neighbour: 0 or an errno. Unknown tokens are ignored.
  virtual void on_neighbour(NeighbourToken token, int error) = 0;
  /// Answer to Network::resolve_path: an errno, or 0 for the path that RoCE would have anyway.
  virtual void on_path(NeighbourToken token, int error) = 0;
  /// A bonded interface failed over, or back: ADDR_CHANGE to every endpoint bound to it that knows
  /// another link address than it has now (Network::link_of; kernel: cma_netdev_change).
  virtual void on_address_change(int interface) = 0;
  /// Whatever is new about a neighbour: UNREACHABLE -ETIMEDOUT to every active endpoint that
  /// resolved its route to it, connected or not, and knows another link address than it has now. So
  /// it comes again and again, and not when an old address returns (kernel:
  /// cma_netevent_callback).
  virtual void on_neighbour_changed(int interface, const Address& address) = 0;
  /// A multicast group is gone from the network: MULTICAST_ERROR -ENETRESET to every endpoint that
  /// has joined it (kernel: process_group_error, which InfiniBand has). False: none has.
  [[nodiscard]] virtual bool on_group_lost(const Address& group) = 0;
  /// A peer process has ended: see ibcm::Agent::on_peer_gone.
  virtual void on_peer_gone(Instant now, std::uint32_t peer_id_tag, std::uint32_t peer_id_tag_mask,
                            std::span<const ibcm::Gid> gids) = 0;

  // --- driving ----------------------------------------------------------------------------------
  /// Carries MADs from the HCAs to the agents, the agents' messages to the HCAs, and events to the
  /// endpoints, until nothing is left. The driver then takes hca.next_packet(). To be called in
  /// Runtime::leave and after every input. False: there was nothing to do.
  virtual bool drain(Instant now) = 0;
  /// Whether requests wait for room in their listeners' backlogs. drain() tries them again.
  [[nodiscard]] virtual bool has_waiting() const = 0;
  /// Runs the CM timers that are due; the driver runs those of the HCAs. drain() delivers the
  /// results.
  virtual void on_timer(Instant now) = 0;
  [[nodiscard]] virtual std::optional<Instant> next_deadline() const = 0;

  /// Returns the number of endpoints.
  [[nodiscard]] virtual std::size_t endpoints() const = 0;

  /// Sets the observer; null: none. The observer must outlive the transport or be removed before.
  virtual void set_observer(Observer* observer) = 0;
  /// Sets the admission; null: every request is admitted. It must outlive the transport or be
  /// removed before.
  virtual void set_admission(Admission* admission) = 0;
};

}  // namespace anyrdma::transport::soft
