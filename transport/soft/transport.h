// The transport that consists of the CM agent (on QP1) and the software HCA. It does what the Linux
// kernel's cma.c and ucma.c do below librdmacm. It has no I/O: the simulator and the real-time
// transports drive the same class.
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
  /// The timing constants of the CM protocol, which are those of one Linux version.
  ibcm::Profile profile = ibcm::kLinux61;
  /// The transport assigns local comm ids of the form (id & mask) | tag, as in ibcm::AgentConfig.
  /// So several processes can share a host.
  std::uint32_t comm_id_mask = 0xffffffff;
  std::uint32_t comm_id_tag = 0;
  /// The largest number of requests that wait because their listener's backlog is full. A request
  /// waits at most four seconds, and is then lost. 0: the request is lost at once, as on Linux
  /// (ucma_event_handler), and its sender repeats it after 4.6 s or more.
  std::size_t waiting_requests_max = 0;
  /// The system's setting net.ipv6.bindv6only, which is the default of AFONLY for IPv6 ids.
  bool ipv6_only = false;
  /// True: loopback destinations are routed like all others, because other hosts may have such
  /// addresses. False: they mean the host itself, as on Linux.
  bool loopback_is_routed = false;
  /// True: an id that is bound to a loopback address has a device at once, for programs that then
  /// read `id->verbs` (librpma's examples). False: it has none before its address is resolved, as
  /// on Linux.
  bool loopback_has_device = false;
};

/// The interface of an observer of every CM message, for traces and tests. Called from drain() and
/// remove_device(). An observer must not call back.
class Observer {
 public:
  using Mad = std::span<const std::uint8_t, ibcm::kMadBytes>;
  virtual ~Observer() = default;
  virtual void on_mad_sent(std::string_view device, const ibcm::Path& path, Mad mad) = 0;
  virtual void on_mad_received(std::string_view device, const ibcm::Path& path, Mad mad) = 0;
  virtual void on_mad_dropped(std::string_view device, ibcm::DropReason reason,
                              std::uint16_t attribute) = 0;
};

/// The interface that decides about connection requests before their listener gets them, for fault
/// injection. Called from drain(). An implementation must not call back.
class Admission {
 public:
  /// The decision not to pass a request to its listener, or to delay the answer to it.
  struct Refusal {
    std::uint8_t reason = ibcm::kRejConsumerDefined;
    std::span<const std::uint8_t> private_data;  ///< at most 148 bytes; valid until the next call

    /// Nothing is ever sent as an answer, not even to repeated requests.
    bool unanswered = false;
    /// Sends nothing and keeps nothing, as Linux does when the listener's backlog is full.
    bool no_room = false;
    /// With a value: the request is not refused, and an MRA with this time exponent is sent.
    std::optional<std::uint8_t> postponed{};
  };
  virtual ~Admission() = default;
  /// Called for every request that has found its listener. A refusal is sent as a REJ, as if the
  /// listener's owner had rejected the request at once. For a datagram service it is sent as a
  /// SIDR_REP with status 2 and the first 136 bytes of the data.
  [[nodiscard]] virtual std::optional<Refusal> on_request(std::string_view device,
                                                          const ibcm::ReqParameters& request) = 0;
  /// The error with which a route lookup fails, and after what time.
  struct NoRoute {
    int error = 0;            ///< error of the event ROUTE_ERROR
    verbs::Duration after{};  ///< 0: at once
  };
  /// Called when a program resolves a route, with the program's timeout, from within that call.
  [[nodiscard]] virtual std::optional<NoRoute> on_routing(std::chrono::milliseconds /*timeout*/) {
    return std::nullopt;
  }
};

/// The transport of one host (simulator) or of one process of a host (fabric). Unless a comment
/// says otherwise, all functions are called inside the critical section (verbs::Runtime::enter).
/// Upcalls come only from drain(). Destroy the object outside the critical section, before its
/// HCAs, and after all endpoints. An endpoint that is left must never be used or destroyed.
class SoftTransport : public Transport {
 public:
  /// Creates the transport. All arguments passed by reference must outlive it.
  [[nodiscard]] static std::unique_ptr<SoftTransport> create(
      verbs::Runtime& runtime, verbs::Random& random, Network& network, PortTable& ports,
      const SoftTransportConfig& config = {});

  // --- devices ----------------------------------------------------------------------------------

  /// Adds a device. Its port 1 is carried by the interface with that index. The device's GIDs
  /// may be set before or after. Wildcard listeners listen on the device from now on. Call it
  /// OUTSIDE the critical section (verbs::Runtime::enter), because it opens the device. Errors:
  /// those of open_device; EEXIST: the HCA or the interface is in use.
  [[nodiscard]] virtual Result<void> add_device(verbs::soft::Hca& hca, int interface) = 0;
  /// Adds port `port` of a device that was added before, 2 or higher. Call it OUTSIDE the critical
  /// section (verbs::Runtime::enter). EEXIST: the port or the interface is in use; ENODEV: no such
  /// device or port.
  [[nodiscard]] virtual Result<void> add_port(verbs::soft::Hca& hca, std::uint8_t port,
                                              int interface) = 0;
  /// Call when a device is about to be removed. Every endpoint on the device gets DEVICE_REMOVAL
  /// (cma_remove_one), and is then ended as if it were destroyed. Established endpoints send one
  /// DREQ, which hca.next_packet() returns afterwards. Wildcard listeners stay. After the driver
  /// has sent those packets, it calls hca.remove(). The HCA itself must exist as long as the
  /// transport, because applications hold its contexts.
  virtual void remove_device(verbs::soft::Hca& hca) = 0;

  // --- processes (verbs::Runtime::process); OUTSIDE the critical section ------------------------

  /// Call when a process begins. Its ids then have contexts of their own. Errors: those of
  /// open_device.
  [[nodiscard]] virtual Result<void> begin_process(const void* process) = 0;
  /// Ends a process: closes its contexts and all objects on them, without waiting for
  /// acknowledgements. Precondition: the process's ids are destroyed.
  virtual void end_process(const void* process) = 0;

  // --- changes of the network --------------------------------------------------------------------

  /// The answer to Network::resolve_neighbour: 0 or an errno. An unknown token has no effect.
  virtual void on_neighbour(NeighbourToken token, int error) = 0;
  /// The answer to Network::resolve_path: an errno, or 0 for the path that RoCE always has.
  virtual void on_path(NeighbourToken token, int error) = 0;
  /// Call when a bonded interface has failed over, or back. Every endpoint that is bound to it gets
  /// ADDR_CHANGE, if it knows another link address than the interface has now (Network::link_of;
  /// kernel: cma_netdev_change).
  virtual void on_address_change(int interface) = 0;
  /// Call when the kernel of the host has news of a neighbour. UNREACHABLE -ETIMEDOUT goes to every
  /// active endpoint, connected or not, whose route uses the neighbour and that knows another link
  /// address of it. So the event comes with each call, but not after an old address has returned
  /// (kernel: cma_netevent_callback).
  virtual void on_neighbour_changed(int interface, const Address& address) = 0;
  /// Call when a multicast group has ended. Every endpoint that has joined it gets MULTICAST_ERROR
  /// -ENETRESET (kernel: process_group_error, for InfiniBand). False: no endpoint has joined it.
  [[nodiscard]] virtual bool on_group_lost(const Address& group) = 0;
  /// Call when a peer process has ended: see ibcm::Agent::on_peer_gone.
  virtual void on_peer_gone(Instant now, std::uint32_t peer_id_tag, std::uint32_t peer_id_tag_mask,
                            std::span<const ibcm::Gid> gids) = 0;

  // --- driving ----------------------------------------------------------------------------------

  /// Passes MADs from the HCAs to the CM agents, the agents' messages to the HCAs, and events to
  /// the endpoints, until nothing is left. The driver then sends the packets of hca.next_packet().
  /// Call it in Runtime::leave, and after every input. False: there was nothing to do.
  virtual bool drain(Instant now) = 0;
  /// Whether requests wait because their listener's backlog is full. drain() offers them again.
  [[nodiscard]] virtual bool has_waiting() const = 0;
  /// Runs the CM's timers that are due. The driver runs the HCAs' timers. drain() delivers the
  /// results.
  virtual void on_timer(Instant now) = 0;
  [[nodiscard]] virtual std::optional<Instant> next_deadline() const = 0;

  /// Returns the number of endpoints.
  [[nodiscard]] virtual std::size_t endpoints() const = 0;

  /// Sets the observer of CM messages; null: none. The observer must outlive the transport, or be
  /// set to null before it is destroyed.
  virtual void set_observer(Observer* observer) = 0;
  /// Sets the object that decides about requests; null: every request is passed on. It must outlive
  /// the transport, or be set to null before it is destroyed.
  virtual void set_admission(Admission* admission) = 0;
};

}  // namespace anyrdma::transport::soft
