// The abstract transport: the interface between cm and everything below it. The interface is where
// Linux has it, between librdmacm and the kernel. An Endpoint is what the kernel keeps of one
// rdma_cm_id: its state, addresses, ports, the backlog, the CM protocol. It decides what a call may
// do. cm has the event channels, and does what librdmacm does when the application fetches an event
// (moving the QP).
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

/// The number of one multicast membership of an endpoint. The caller chooses it; it is unique for
/// the endpoint.
enum class MembershipId : std::uint64_t {};

/// An event of an endpoint, as the kernel would report it: a received REP is always
/// CONNECT_RESPONSE, a received RTU is ESTABLISHED. Fields beyond type and status are zero unless
/// named:
///   CONNECT_REQUEST, CONNECT_RESPONSE: conn (resources already swapped), private_data padded to
///   the message's fixed length; REJECTED: private_data (148 bytes), status = IB reason.
///   Datagram services: CONNECT_REQUEST, ESTABLISHED and UNREACHABLE with a SIDR status carry `ud`
///   and private_data; MULTICAST_JOIN carries `ud` and `membership`, MULTICAST_ERROR `membership`.
struct EndpointEvent {
  rdma_cm_event_type type;
  int status = 0;
  rdma_conn_param conn{};  ///< private_data and private_data_len in here are unused
  std::span<const std::uint8_t> private_data{};  ///< valid during the upcall only
  /// Set when the event uses param.ud instead of param.conn; its private data is unused. Valid
  /// during the upcall only.
  const rdma_ud_param* ud = nullptr;
  MembershipId membership{};
  /// CONNECT_REQUEST, CONNECT_RESPONSE: the peer's options of enhanced connection establishment;
  /// vendor_id 0: none.
  ibv_ece ece{};
};

/// The parameters of connect and accept. Already normalised by cm: no 0xFF constants, counts at
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

/// The kind of an endpoint's membership in a multicast group (RDMA_MC_JOIN_FLAG_*).
enum class JoinState : std::uint8_t {
  kFullMember = RDMA_MC_JOIN_FLAG_FULLMEMBER,
  kSendOnlyFullMember = RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER,
};

/// The device and addresses of an endpoint, as the kernel's "query addresses" returns them. verbs
/// is null while no device is bound. addr has source and destination socket addresses and, once
/// resolved, the GIDs.
struct Binding {
  ibv_context* verbs = nullptr;
  std::uint8_t port_num = 0;
  rdma_addr addr{};
};

/// Attributes and mask for ibv_modify_qp, as rdma_init_qp_attr returns them.
struct QpTransition {
  ibv_qp_attr attr{};
  int mask = 0;
};

class Endpoint;

/// Receives an endpoint's upcalls, inside the runtime's critical section. Upcalls except on_state
/// never happen within a call on the same endpoint. The handler may call any Endpoint function, but
/// must not destroy the endpoint.
class EndpointHandler {
 public:
  virtual ~EndpointHandler() = default;
  virtual void on_event(const EndpointEvent& event) = 0;
  /// A listening endpoint, whose backlog is not full, got a connection request. Returns the handler
  /// of the new endpoint and takes ownership of `child`. Null leaves `child` to the transport,
  /// which drops the request without an answer, so the peer's retransmission counts as new (kernel:
  /// ucma_event_handler returning -ENOMEM).
  virtual EndpointHandler* on_connect_request(std::unique_ptr<Endpoint>& child,
                                              const EndpointEvent& event) = 0;
  /// The endpoint's state() has changed. May be called inside a call on the endpoint; the handler
  /// must not call back.
  virtual void on_state(std::string_view /*state*/) {}
};

/// The kernel's side of one rdma_cm_id, which decides what is legal. Call all functions inside the
/// runtime's critical section. They make no upcall but on_state. Besides the errors named below, a
/// call fails with EINVAL if the id's state does not allow it, and with ENXIO after DEVICE_REMOVAL;
/// admits() returns these.
class Endpoint {
 public:
  /// Ends the endpoint, with the message that the kernel would send (cm_destroy_id). No upcall
  /// follows.
  virtual ~Endpoint() = default;

  /// Whether the state of the id allows the call now. Its arguments, the device and the CM may
  /// still refuse it. Over the system's kernel it returns success, since the kernel decides in the
  /// call itself.
  [[nodiscard]] virtual Result<void> admits(Call call) const = 0;
  /// The state in the kernel's spelling, "RDMA_CM_CONNECT", for traces and tests. Empty over the
  /// system's kernel, which does not show it.
  [[nodiscard]] virtual std::string_view state() const { return {}; }
  /// Whether events of this id are reported: not before a request is accepted (ucma's uid).
  [[nodiscard]] virtual bool reports() const { return true; }
  /// Binds to a local address; port 0 picks an ephemeral port. EADDRNOTAVAIL, EADDRINUSE, EACCES,
  /// ENODEV, EINVAL as in the table of rdma_bind_addr.
  [[nodiscard]] virtual Result<void> bind(const sockaddr& local) = 0;
  /// Starts listening; binds to the IPv4 wildcard when not bound. `backlog` bounds the requests
  /// that have not been fetched; outside 1..1024 it means 1024. It counts from now on even when a
  /// listener is refused to listen again. EADDRINUSE, EADDRNOTAVAIL.
  [[nodiscard]] virtual Result<void> listen(int backlog) = 0;
  /// A request of this listener was fetched, so its slot of the backlog is free.
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
  /// Call for IBV_EVENT_COMM_EST before RTU has arrived: ESTABLISHED follows. EISCONN: established
  /// already; EINVAL.
  [[nodiscard]] virtual Result<void> notify(ibv_event_type event) = 0;
  /// rdma_init_qp_attr: the attributes that move the QP to `state`. EINVAL: unbound, or the CM
  /// state does not allow it.
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
  /// Leaves a group, or cancels a join without answer; no event follows. EADDRNOTAVAIL: unknown.
  [[nodiscard]] virtual Result<void> leave_multicast(MembershipId membership) = 0;
  [[nodiscard]] virtual Binding binding() const = 0;
  /// The path after route resolution (one record on RoCE); null before.
  [[nodiscard]] virtual const ibv_sa_path_rec* path() const = 0;
  /// Directs later upcalls to another handler.
  virtual void set_handler(EndpointHandler& handler) = 0;
};

/// Observes the events of one transport's ids, for traces. Must not call back. Ids have numbers
/// from 1, in the order of their creation on the transport.
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

/// Observes which calls on one transport's ids took effect or failed in the transport, for
/// checkers. Called inside the critical section; must not call back. Ids as in EventObserver.
class CallObserver {
 public:
  virtual ~CallObserver() = default;
  /// `call` is cm's name of the operation ("resolve_addr"; "destroy" for the id's end); `error` an
  /// errno, 0 for success.
  virtual void on_call(std::uint64_t id, std::string_view call, int error) = 0;
  /// The call was refused before it reached the transport, because of the id's state or the
  /// arguments.
  virtual void on_refused(std::uint64_t /*id*/, std::string_view /*call*/, int /*error*/) {}
  /// The id has entered a state, in the kernel's spelling: "RDMA_CM_CONNECT". Called before the
  /// call or the event that causes it is reported.
  virtual void on_state(std::uint64_t /*id*/, std::string_view /*state*/) {}
  /// "connect", "accept" or "reject" has succeeded with these parameters; of a reject only the
  /// private data is set.
  virtual void on_handshake(std::uint64_t /*id*/, const rdma_cm_id& /*raw*/,
                            std::string_view /*call*/, const ConnectionParameters& /*given*/) {}
  /// An event channel was created (1) or destroyed (-1). Outside the critical section.
  virtual void on_channels(int /*change*/) {}
};

/// One host's access to the network.
class Transport {
 public:
  virtual ~Transport() = default;
  [[nodiscard]] virtual verbs::Runtime& runtime() = 0;
  /// The devices present now; pointers stay valid for the transport's life.
  [[nodiscard]] virtual std::span<ibv_device* const> devices() = 0;
  [[nodiscard]] virtual verbs::Provider& provider_of(ibv_device* device) = 0;
  /// The context that bindings to this device contain; `device` is one of devices(). It lives as
  /// long as the transport. Critical section.
  [[nodiscard]] virtual ibv_context* context_of(ibv_device* device) = 0;
  /// Creates an endpoint; `type` decides whether it is for datagrams (UD) or connections. Critical
  /// section. EINVAL: unknown port space; ENOMEM.
  [[nodiscard]] virtual Result<std::unique_ptr<Endpoint>> create_endpoint(
      rdma_port_space space, ibv_qp_type type, EndpointHandler& handler) = 0;

  /// Whether there has been a device when cm asked, now or before: librdmacm looks once
  /// (L/ucma_init). Critical section.
  [[nodiscard]] bool has_had_devices() {
    had_devices_ = had_devices_ || !devices().empty();
    return had_devices_;
  }

  /// Data that cm keeps per transport (the devices in use); the transport only stores it. Empty
  /// again when all ids are destroyed.
  class Attachment {
   public:
    virtual ~Attachment() = default;
  };
  /// Critical section.
  [[nodiscard]] std::unique_ptr<Attachment>& attachment() { return attachment_; }

  /// Sets the observer of events, to which cm reports; null: none. It must outlive the transport or
  /// be removed before.
  void set_event_observer(EventObserver* observer) { event_observer_ = observer; }
  [[nodiscard]] EventObserver* event_observer() const { return event_observer_; }
  /// Sets the observer of calls. Lifetime as for set_event_observer.
  void set_call_observer(CallObserver* observer) { call_observer_ = observer; }
  [[nodiscard]] CallObserver* call_observer() const { return call_observer_; }
  /// Sets the gate that cm asks before calls that the id's state allows, and before an event is
  /// fetched; null: none. Lifetime as for set_event_observer.
  void set_call_gate(verbs::CallGate* gate) { call_gate_ = gate; }
  [[nodiscard]] verbs::CallGate* call_gate() const { return call_gate_; }
  /// Returns the number of the next new id for observers. Critical section.
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
