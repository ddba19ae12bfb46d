// The abstract transport: what cm stands on, and all it knows about what is below. The cut is where
// Linux has it between librdmacm and the kernel: an Endpoint is what the kernel keeps of one
// rdma_cm_id (its state, addresses, ports, the backlog, the CM protocol) and decides what a call
// may do, while cm keeps the event channels and what librdmacm does when the application fetches an
// event (moving the QP).
#pragma once

#include <rdma/rdma_cma.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "transport/call.h"
#include "verbs/call_gate.h"
#include "verbs/provider.h"
#include "verbs/result.h"
#include "verbs/runtime.h"

namespace anyrdma::transport {

using verbs::Result;

/// Names one multicast membership of an endpoint. The caller chooses it; unique per endpoint.
enum class MembershipId : std::uint64_t {};

/// What happened to an endpoint. `type` uses rdma-core's words; the transport reports what the
/// kernel would report, so REP received is always CONNECT_RESPONSE and RTU received is ESTABLISHED.
/// Fields beyond type and status are zero unless named:
///   CONNECT_REQUEST, CONNECT_RESPONSE: conn (resources already swapped), private_data padded to
///   the message's fixed length; REJECTED: private_data (148 bytes), status = IB reason.
///   Datagram services: CONNECT_REQUEST, ESTABLISHED and UNREACHABLE with a SIDR status carry `ud`
///   and private_data; MULTICAST_JOIN carries `ud` and `membership`, MULTICAST_ERROR `membership`.
struct EndpointEvent {
  rdma_cm_event_type type;
  int status = 0;
  rdma_conn_param conn{};  ///< private_data and private_data_len in here are unused
  std::span<const std::uint8_t> private_data{};  ///< valid during the upcall only
  /// Set when the event speaks of param.ud instead of param.conn; its private data is unused. Valid
  /// during the upcall only.
  const rdma_ud_param* ud = nullptr;
  MembershipId membership{};
  /// CONNECT_REQUEST, CONNECT_RESPONSE: enhanced connection establishment as the peer announced it;
  /// vendor_id 0: it did not.
  ibv_ece ece{};
};

/// What connect and accept carry down. Already normalised by cm: no 0xFF constants, counts at
/// most 7.
struct ConnectionParameters {
  std::uint8_t responder_resources = 0;
  std::uint8_t initiator_depth = 0;
  std::uint8_t flow_control = 0;
  std::uint8_t retry_count = 7;  ///< ignored when accepting
  std::uint8_t rnr_retry_count = 7;
  std::uint8_t srq = 0;
  std::uint32_t qp_num = 0;
  ibv_qp_type qp_type = IBV_QPT_RC;
  ibv_ece ece{};  ///< vendor_id 0: none
  std::span<const std::uint8_t> private_data{};
};

/// How an endpoint belongs to a multicast group (RDMA_MC_JOIN_FLAG_*).
enum class JoinState : std::uint8_t {
  kFullMember = RDMA_MC_JOIN_FLAG_FULLMEMBER,
  kSendOnlyFullMember = RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER,
};

/// Where an endpoint stands: kernel's answer to "query addresses". verbs is null while no device is
/// bound; addr holds source and destination socket addresses and, once resolved, the GIDs.
struct Binding {
  ibv_context* verbs = nullptr;
  std::uint8_t port_num = 0;
  rdma_addr addr{};
};

/// Attributes and mask for ibv_modify_qp, as rdma_init_qp_attr gives them.
struct QpTransition {
  ibv_qp_attr attr{};
  int mask = 0;
};

class Endpoint;

/// Receives an endpoint's upcalls, inside the runtime's critical section and, but for on_state,
/// never from within a call on the same endpoint. It may call any Endpoint function, but must not
/// destroy the endpoint.
class EndpointHandler {
 public:
  virtual ~EndpointHandler() = default;
  virtual void on_event(const EndpointEvent& event) = 0;
  /// A listening endpoint with room got a connection request. The handler of the new endpoint is
  /// returned, and ownership taken from `child`. Returning null leaves `child` to the transport,
  /// which drops the request in silence, so that the peer's retransmission counts as new (kernel:
  /// ucma_event_handler returning -ENOMEM).
  virtual EndpointHandler* on_connect_request(std::unique_ptr<Endpoint>& child,
                                              const EndpointEvent& event) = 0;
  /// The endpoint has come to another state, which observers want to know: Endpoint::state(). May
  /// come from within a call; the handler must not call back.
  virtual void on_state(std::string_view /*state*/) {}
};

/// The kernel's side of one rdma_cm_id, which decides what is legal. All functions must be called
/// inside the runtime's critical section. No upcall but on_state comes from within. Besides the
/// errors named below, a call that the id's state does not allow is EINVAL, and ENXIO after
/// DEVICE_REMOVAL: admits() says which.
class Endpoint {
 public:
  /// Ends the endpoint, with the message that the kernel would send (cm_destroy_id). No upcall
  /// follows.
  virtual ~Endpoint() = default;

  /// Whether the state of the id allows the call now; its arguments, the device and the CM may
  /// still refuse it. What the system's kernel decides, it decides in the call itself: success
  /// here.
  [[nodiscard]] virtual Result<void> admits(Call call) const = 0;
  /// The state in the kernel's spelling, "RDMA_CM_CONNECT", for traces and tests; empty: the kernel
  /// keeps it to itself.
  [[nodiscard]] virtual std::string_view state() const { return {}; }
  /// Whether anything is told of this id: not of a request's before it was accepted (ucma's uid).
  [[nodiscard]] virtual bool reports() const { return true; }
  /// Binds to a local address; port 0 picks an ephemeral port. EADDRNOTAVAIL, EADDRINUSE, EACCES,
  /// ENODEV, EINVAL as in the table of rdma_bind_addr.
  [[nodiscard]] virtual Result<void> bind(const sockaddr& local) = 0;
  /// Starts listening; binds to the IPv4 wildcard when not bound. `backlog` bounds the requests
  /// that have not been fetched; outside 1..1024 it means 1024. It counts from now on even when a
  /// listener is refused to listen again. EADDRINUSE, EADDRNOTAVAIL.
  [[nodiscard]] virtual Result<void> listen(int backlog) = 0;
  /// A request of this listener was fetched: it makes room for another.
  virtual void on_request_fetched() = 0;
  /// Starts address resolution: ADDR_RESOLVED or ADDR_ERROR follows. `source` may be null and is
  /// ignored when bound. Synchronous route errors: ENETUNREACH, EHOSTUNREACH, ENODEV,
  /// EADDRNOTAVAIL.
  [[nodiscard]] virtual Result<void> resolve_address(const sockaddr* source,
                                                     const sockaddr& destination,
                                                     std::chrono::milliseconds timeout) = 0;
  /// Starts route resolution: ROUTE_RESOLVED or ROUTE_ERROR follows. ENODEV.
  [[nodiscard]] virtual Result<void> resolve_route(std::chrono::milliseconds timeout) = 0;
  /// Sends REQ: CONNECT_RESPONSE, REJECTED or UNREACHABLE follows; datagram services send SIDR_REQ:
  /// ESTABLISHED, UNREACHABLE or ADDR_ERROR (the reply's QKey does not fit) follows. EINVAL:
  /// private data too long.
  [[nodiscard]] virtual Result<void> connect(const ConnectionParameters&) = 0;
  /// Sends REP; ESTABLISHED, REJECTED, UNREACHABLE or DISCONNECTED follows. Datagram services send
  /// SIDR_REP, and nothing follows. On any failure the
  /// request is rejected with reason 28 and the error returned (EINVAL: private data too long,
  /// request dead).
  [[nodiscard]] virtual Result<void> accept(const ConnectionParameters&) = 0;
  /// Active side, after CONNECT_RESPONSE: sends RTU. EINVAL when the CM state does not allow it.
  [[nodiscard]] virtual Result<void> establish() = 0;
  /// Sends REJ with `reason` (28 consumer defined, 35 vendor option). EINVAL: data too long, wrong
  /// CM state; nothing is sent then.
  [[nodiscard]] virtual Result<void> reject(std::uint8_t reason,
                                            std::span<const std::uint8_t> private_data) = 0;
  /// Sends DREQ, or DREP when a DREQ is waiting; success without effect when neither is possible
  /// (kernel: rdma_disconnect). EINVAL when there is no CM id yet.
  [[nodiscard]] virtual Result<void> disconnect() = 0;
  /// IBV_EVENT_COMM_EST while REP is outstanding: ESTABLISHED follows. EISCONN, EINVAL.
  [[nodiscard]] virtual Result<void> notify(ibv_event_type event) = 0;
  /// rdma_init_qp_attr: attributes that bring the QP to `state`. EINVAL: unbound, or the CM state
  /// does not allow it.
  [[nodiscard]] virtual Result<QpTransition> qp_transition(ibv_qp_state state) = 0;
  /// rdma_set_option; a path (IB_PATH) is followed by ROUTE_RESOLVED. EINVAL: size; ENOSYS: unknown
  /// level or option.
  [[nodiscard]] virtual Result<void> set_option(int level, int option,
                                                std::span<const std::uint8_t> value) = 0;
  /// Joins a group: MULTICAST_JOIN or MULTICAST_ERROR with `membership` follows, with the group's
  /// GID, LID and QKey in ud. EINVAL: not a datagram service, no device, address; ENODEV; ENOTSUPP
  /// (524): IPv6 group on RoCE v2.
  [[nodiscard]] virtual Result<void> join_multicast(const sockaddr& group, MembershipId membership,
                                                    JoinState state) = 0;
  /// Leaves, or gives a join up that has not been answered; no event follows. EADDRNOTAVAIL:
  /// unknown.
  [[nodiscard]] virtual Result<void> leave_multicast(MembershipId membership) = 0;
  [[nodiscard]] virtual Binding binding() const = 0;
  /// The path after route resolution (one record on RoCE); null before.
  [[nodiscard]] virtual const ibv_sa_path_rec* path() const = 0;
  /// Directs later upcalls to another handler.
  virtual void set_handler(EndpointHandler& handler) = 0;
};

/// Sees what cm does with the events of one transport's ids, for traces. Must not call back. Ids go
/// by their number: from 1, in the order of their creation on the transport.
class EventObserver {
 public:
  enum class Step : std::uint8_t {
    kQueued,   ///< put into its channel; inside the critical section
    kFetched,  ///< handed to the application, outside of it
  };
  virtual ~EventObserver() = default;
  /// `listener` is 0 except for CONNECT_REQUEST, whose `id` is the new one.
  virtual void on_event(Step step, std::uint64_t id, std::uint64_t listener,
                        const rdma_cm_event& event) = 0;
  /// The application acknowledged one of the events that `id` owes: the listener for
  /// CONNECT_REQUEST. Inside the critical section.
  virtual void on_acknowledged(std::uint64_t /*id*/) {}
};

/// Sees which calls on one transport's ids took effect or failed in the transport, for checkers.
/// Inside the critical section; must not call back. Ids as in EventObserver.
class CallObserver {
 public:
  virtual ~CallObserver() = default;
  /// `call` is cm's name of the operation ("resolve_addr"; "destroy" for the id's end); `error` an
  /// errno, 0 for success.
  virtual void on_call(std::uint64_t id, std::string_view call, int error) = 0;
  /// The call was refused before it came to the transport: for the id's state, or what was given.
  virtual void on_refused(std::uint64_t /*id*/, std::string_view /*call*/, int /*error*/) {}
  /// The id has come to another state, in the kernel's spelling: "RDMA_CM_CONNECT". Before the call
  /// or the event that brings it there is reported.
  virtual void on_state(std::uint64_t /*id*/, std::string_view /*state*/) {}
  /// What "connect", "accept" or "reject" has just given the transport to send, with success; of a
  /// reject only the private data.
  virtual void on_handshake(std::uint64_t /*id*/, const rdma_cm_id& /*raw*/,
                            std::string_view /*call*/, const ConnectionParameters& /*given*/) {}
  /// One event channel more (1), or one less (-1). Outside the critical section.
  virtual void on_channels(int /*change*/) {}
};

/// One host's way to the network.
class Transport {
 public:
  virtual ~Transport() = default;
  [[nodiscard]] virtual verbs::Runtime& runtime() = 0;
  /// The devices present now; pointers stay valid for the transport's life.
  [[nodiscard]] virtual std::span<ibv_device* const> devices() = 0;
  [[nodiscard]] virtual verbs::Provider& provider_of(ibv_device* device) = 0;
  /// The context that bindings to this device show; `device` is one of devices(). Lives as long as
  /// the transport. Critical section.
  [[nodiscard]] virtual ibv_context* context_of(ibv_device* device) = 0;
  /// A fresh endpoint; `type` decides whether it speaks for datagrams (UD) or connections. Critical
  /// section. EINVAL: unknown port space; ENOMEM.
  [[nodiscard]] virtual Result<std::unique_ptr<Endpoint>> create_endpoint(
      rdma_port_space space, ibv_qp_type type, EndpointHandler& handler) = 0;

  /// Whether there has been a device when cm asked, now or before: librdmacm looks once
  /// (L/ucma_init). Critical section.
  [[nodiscard]] bool has_had_devices() {
    had_devices_ = had_devices_ || !devices().empty();
    return had_devices_;
  }

  /// What cm keeps per transport (the devices in use); the transport only stores it. Empty again
  /// when all ids are destroyed.
  class Attachment {
   public:
    virtual ~Attachment() = default;
  };
  /// Critical section.
  [[nodiscard]] std::unique_ptr<Attachment>& attachment() { return attachment_; }

  /// Null for none; cm reports to it. Outlives the transport or is unset before.
  void set_event_observer(EventObserver* observer) { event_observer_ = observer; }
  [[nodiscard]] EventObserver* event_observer() const { return event_observer_; }
  /// As set_event_observer.
  void set_call_observer(CallObserver* observer) { call_observer_ = observer; }
  [[nodiscard]] CallObserver* call_observer() const { return call_observer_; }
  /// Asked by cm before calls that the id's state allows, and before an event is fetched; null for
  /// none. As set_event_observer.
  void set_call_gate(verbs::CallGate* gate) { call_gate_ = gate; }
  [[nodiscard]] verbs::CallGate* call_gate() const { return call_gate_; }
  /// The number that observers know the next new id by. Critical section.
  [[nodiscard]] std::uint64_t number_id() { return ++ids_; }

 private:
  EventObserver* event_observer_ = nullptr;
  CallObserver* call_observer_ = nullptr;
  verbs::CallGate* call_gate_ = nullptr;
  std::uint64_t ids_ = 0;
  bool had_devices_ = false;
  std::unique_ptr<Attachment> attachment_;
};

}  // namespace anyrdma::transport
