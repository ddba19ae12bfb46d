// The abstract transport: the interface between cm and everything below it. It corresponds to
// Linux's interface between librdmacm and the kernel. An Endpoint is the kernel's part of one
// rdma_cm_id: its state, addresses, ports, backlog and CM protocol. The Endpoint decides which
// calls are allowed. cm has the event channels, and does what librdmacm does when the application
// fetches an event, such as moving the QP.
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

/// The number of one multicast membership of an endpoint. The caller chooses it; the endpoint's
/// other memberships must have other numbers.
enum class MembershipId : std::uint64_t {};

/// An event of an endpoint, as the kernel would report it: a received REP is always
/// CONNECT_RESPONSE, a received RTU is ESTABLISHED. Fields beyond type and status are zero unless
/// named:
/// CONNECT_REQUEST, CONNECT_RESPONSE: `conn` (with the resources already exchanged), and
/// `private_data`, padded to the message's fixed length. REJECTED: `private_data` (148 bytes), and
/// `status`, which is the reject reason.
/// Datagram services: CONNECT_REQUEST, ESTABLISHED and UNREACHABLE with a SIDR status have `ud` and
/// `private_data`. MULTICAST_JOIN has `ud` and `membership`, MULTICAST_ERROR `membership`.
struct EndpointEvent {
  rdma_cm_event_type type;
  int status = 0;
  rdma_conn_param conn{};  ///< its members private_data and private_data_len are not used
  std::span<const std::uint8_t> private_data{};  ///< valid only during the upcall

  /// Set if the event has param.ud instead of param.conn. Its private data is not used. Valid only
  /// during the upcall.
  const rdma_ud_param* ud = nullptr;
  MembershipId membership{};
  /// For CONNECT_REQUEST and CONNECT_RESPONSE: the peer's options of enhanced connection
  /// establishment. vendor_id 0: none.
  ibv_ece ece{};
};

/// The parameters of connect and accept. cm has already replaced 0xFF constants, and limited the
/// retry counts to 7.
struct ConnectionParameters {
  std::uint8_t responder_resources = 0;
  std::uint8_t initiator_depth = 0;
  std::uint8_t flow_control = 0;
  std::uint8_t retry_count = 7;  ///< ignored by accept
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

/// The device and the addresses of an endpoint, as the kernel's "query addresses" returns them.
/// verbs is null while no device is bound. addr has the socket addresses of source and destination
/// and, after address resolution, the GIDs.
struct Binding {
  ibv_context* verbs = nullptr;
  std::uint8_t port_num = 0;
  rdma_addr addr{};
};

/// The attributes and the mask for ibv_modify_qp that rdma_init_qp_attr returns.
struct QpTransition {
  ibv_qp_attr attr{};
  int mask = 0;
};

class Endpoint;

/// The interface that receives the upcalls of an endpoint, inside the critical section
/// (verbs::Runtime::enter). No upcall except on_state comes within a call on the same endpoint. The
/// handler may call any function of the Endpoint, but must not destroy it.
class EndpointHandler {
 public:
  virtual ~EndpointHandler() = default;
  virtual void on_event(const EndpointEvent& event) = 0;
  /// Called when a listening endpoint, whose backlog is not full, has received a connection
  /// request. Returns the handler of the new endpoint and takes ownership of `child`. If the
  /// function returns null, the transport keeps `child` and drops the request without an answer.
  /// The peer's retransmission then counts as new (kernel: ucma_event_handler returning -ENOMEM).
  virtual EndpointHandler* on_connect_request(std::unique_ptr<Endpoint>& child,
                                              const EndpointEvent& event) = 0;
  /// Called when the endpoint's state() has changed, perhaps inside a call on the endpoint. The
  /// handler must not call back.
  virtual void on_state(std::string_view /*state*/) {}
};

/// The kernel's part of one rdma_cm_id, which decides which calls are allowed. Call all functions
/// inside the critical section (verbs::Runtime::enter). They make no upcall except on_state. Each
/// call also fails with EINVAL if the id's state does not allow it, and with ENXIO after
/// DEVICE_REMOVAL; admits() returns these errors.
class Endpoint {
 public:
  /// Ends the endpoint, with the message that the kernel would send (cm_destroy_id). No upcall
  /// follows.
  virtual ~Endpoint() = default;

  /// Whether the state of the id allows the call now. The call may still fail because of its
  /// arguments, the device or the CM. Over a real kernel the function returns success, because the
  /// kernel decides in the call itself.
  [[nodiscard]] virtual Result<void> admits(Call call) const = 0;
  /// Returns the state in the kernel's spelling, such as "RDMA_CM_CONNECT", for traces and tests.
  /// Empty over a real kernel, which does not show the state.
  [[nodiscard]] virtual std::string_view state() const { return {}; }
  /// Whether events of this id are reported. An id made for a request reports none before it is
  /// accepted (kernel: ucma's uid).
  [[nodiscard]] virtual bool reports() const { return true; }
  /// Binds to a local address. Port 0 means an ephemeral port. Errors: EADDRNOTAVAIL, EADDRINUSE,
  /// EACCES, ENODEV, EINVAL, as documented for rdma_bind_addr.
  [[nodiscard]] virtual Result<void> bind(const sockaddr& local) = 0;
  /// Starts to listen. An unbound endpoint is bound to the IPv4 wildcard address. `backlog` limits
  /// the number of requests that were not fetched; values outside 1..1024 mean 1024. The value
  /// counts even if the endpoint listens already and the call fails. Errors: EADDRINUSE,
  /// EADDRNOTAVAIL.
  [[nodiscard]] virtual Result<void> listen(int backlog) = 0;
  /// Call when a request of this listener was fetched, so that its place in the backlog is free.
  virtual void on_request_fetched() = 0;
  /// Starts to resolve an address. ADDR_RESOLVED or ADDR_ERROR follows. `source` may be null, and
  /// is ignored if the endpoint is bound. Errors of the route lookup: ENETUNREACH, EHOSTUNREACH,
  /// ENODEV, EADDRNOTAVAIL.
  [[nodiscard]] virtual Result<void> resolve_address(const sockaddr* source,
                                                     const sockaddr& destination,
                                                     std::chrono::milliseconds timeout) = 0;
  /// Starts to resolve the route. ROUTE_RESOLVED or ROUTE_ERROR follows. ENODEV: the device was
  /// removed.
  [[nodiscard]] virtual Result<void> resolve_route(std::chrono::milliseconds timeout) = 0;
  /// Sends a REQ; CONNECT_RESPONSE, REJECTED or UNREACHABLE follows. A datagram service sends a
  /// SIDR_REQ; ESTABLISHED, UNREACHABLE, or ADDR_ERROR (the QKey of the reply does not fit)
  /// follows. EINVAL: private data too long.
  [[nodiscard]] virtual Result<void> connect(const ConnectionParameters&) = 0;
  /// Sends a REP; ESTABLISHED, REJECTED, UNREACHABLE or DISCONNECTED follows. A datagram service
  /// sends a SIDR_REP, and nothing follows. After any error the request is rejected with reason 28.
  /// EINVAL: private data too long, or the request has ended.
  [[nodiscard]] virtual Result<void> accept(const ConnectionParameters&) = 0;
  /// Sends the RTU, on the active side after CONNECT_RESPONSE. EINVAL: the CM state does not allow
  /// it.
  [[nodiscard]] virtual Result<void> establish() = 0;
  /// Sends a REJ with `reason` (28: consumer defined, 35: vendor option). EINVAL: data too long, or
  /// wrong CM state; nothing was sent.
  [[nodiscard]] virtual Result<void> reject(std::uint8_t reason,
                                            std::span<const std::uint8_t> private_data) = 0;
  /// Sends a DREQ, or a DREP if the peer has sent a DREQ. If neither is possible, the call succeeds
  /// without effect (kernel: rdma_disconnect). EINVAL: there is no CM id yet.
  [[nodiscard]] virtual Result<void> disconnect() = 0;
  /// Call when IBV_EVENT_COMM_EST comes before the RTU has arrived. ESTABLISHED follows. EISCONN:
  /// established already; EINVAL: other event or wrong state.
  [[nodiscard]] virtual Result<void> notify(ibv_event_type event) = 0;
  /// Returns the attributes that move the QP to `state`, as rdma_init_qp_attr does. EINVAL: not
  /// bound, or the CM state does not allow it.
  [[nodiscard]] virtual Result<QpTransition> qp_transition(ibv_qp_state state) = 0;
  /// Sets an option, as rdma_set_option does. ROUTE_RESOLVED follows if the option is a path
  /// (IB_PATH). EINVAL: wrong size; ENOSYS: unknown level or option.
  [[nodiscard]] virtual Result<void> set_option(int level, int option,
                                                std::span<const std::uint8_t> value) = 0;
  /// Joins a multicast group. MULTICAST_JOIN or MULTICAST_ERROR with `membership` follows; `ud` has
  /// the group's GID, LID and QKey. EINVAL: not a datagram service, no device, or wrong address;
  /// ENODEV; ENOTSUPP (524): IPv6 group on RoCE v2.
  [[nodiscard]] virtual Result<void> join_multicast(const sockaddr& group, MembershipId membership,
                                                    JoinState state) = 0;
  /// Leaves a group, or cancels a join that has no answer yet. No event follows. EADDRNOTAVAIL:
  /// unknown membership.
  [[nodiscard]] virtual Result<void> leave_multicast(MembershipId membership) = 0;
  [[nodiscard]] virtual Binding binding() const = 0;
  /// Returns the path after route resolution, which is one record on RoCE. Null before.
  [[nodiscard]] virtual const ibv_sa_path_rec* path() const = 0;
  /// Sets the handler that gets later upcalls.
  virtual void set_handler(EndpointHandler& handler) = 0;
};

/// The interface of an observer of the events of one transport's ids, for traces. An observer must
/// not call back. Ids have numbers from 1, in the order of their creation on the transport.
class EventObserver {
 public:
  enum class Step : std::uint8_t {
    kQueued,   ///< the event was put into its channel; called inside the critical section
    kFetched,  ///< the application has fetched the event; called outside the critical section
  };
  virtual ~EventObserver() = default;
  /// An event of the id with number `id` was queued or fetched. For CONNECT_REQUEST, `id` is the
  /// new id and `listener` the listener's number; else `listener` is 0.
  virtual void on_event(Step step, std::uint64_t id, std::uint64_t listener,
                        const rdma_cm_event& event) = 0;
  /// The application has acknowledged one of the events that `id` counts. For CONNECT_REQUEST that
  /// is the listener. Called inside the critical section (verbs::Runtime::enter).
  virtual void on_acknowledged(std::uint64_t /*id*/) {}
};

/// The interface of an observer of calls on one transport's ids, for checkers. It is told which
/// calls have succeeded or failed. Called inside the critical section (verbs::Runtime::enter). An
/// observer must not call back. Numbers of ids are as in EventObserver.
class CallObserver {
 public:
  virtual ~CallObserver() = default;
  /// A call has succeeded or failed. `call` is cm's name of the operation, such as "resolve_addr",
  /// or "destroy" for the end of the id. `error` is an errno; 0: success.
  virtual void on_call(std::uint64_t id, std::string_view call, int error) = 0;
  /// A call was refused before it reached the transport, because of the id's state or the
  /// arguments.
  virtual void on_refused(std::uint64_t /*id*/, std::string_view /*call*/, int /*error*/) {}
  /// The id has entered a state, in the kernel's spelling, such as "RDMA_CM_CONNECT". Called before
  /// the call or event that causes the change is reported.
  virtual void on_state(std::uint64_t /*id*/, std::string_view /*state*/) {}
  /// "connect", "accept" or "reject" has succeeded with these parameters. For "reject", only the
  /// private data is set.
  virtual void on_handshake(std::uint64_t /*id*/, const rdma_cm_id& /*raw*/,
                            std::string_view /*call*/, const ConnectionParameters& /*given*/) {}
  /// An event channel was created (1) or destroyed (-1). Called outside the critical section
  /// (verbs::Runtime::enter).
  virtual void on_channels(int /*change*/) {}
};

/// One host's access to the network: its devices, and endpoints on them.
class Transport {
 public:
  virtual ~Transport() = default;
  [[nodiscard]] virtual verbs::Runtime& runtime() = 0;
  /// Returns the devices that are present now. The pointers stay valid as long as the transport.
  [[nodiscard]] virtual std::span<ibv_device* const> devices() = 0;
  [[nodiscard]] virtual verbs::Provider& provider_of(ibv_device* device) = 0;
  /// Returns the context of a device of devices(), which bindings to the device contain. It exists
  /// as long as the transport. Call it inside the critical section (verbs::Runtime::enter).
  [[nodiscard]] virtual ibv_context* context_of(ibv_device* device) = 0;
  /// Creates an endpoint. `type` decides whether it is for datagrams (UD) or connections. Call it
  /// inside the critical section (verbs::Runtime::enter). EINVAL: unknown port space; ENOMEM.
  [[nodiscard]] virtual Result<std::unique_ptr<Endpoint>> create_endpoint(
      rdma_port_space space, ibv_qp_type type, EndpointHandler& handler) = 0;

  /// Whether there is a device now, or was one in an earlier call: librdmacm looks for devices only
  /// once (L/ucma_init). Call it inside the critical section (verbs::Runtime::enter).
  [[nodiscard]] bool has_had_devices() {
    had_devices_ = had_devices_ || !devices().empty();
    return had_devices_;
  }

  /// Data that cm attaches to a transport, which only stores it: the list of devices in use. The
  /// list is empty when all ids are destroyed.
  class Attachment {
   public:
    virtual ~Attachment() = default;
  };
  /// Returns the data that cm stores here. Call it inside the critical section
  /// (verbs::Runtime::enter).
  [[nodiscard]] std::unique_ptr<Attachment>& attachment() { return attachment_; }

  /// Sets the observer of events, to which cm reports; null: none. The observer must outlive the
  /// transport, or be set to null before it is destroyed.
  void set_event_observer(EventObserver* observer) { event_observer_ = observer; }
  [[nodiscard]] EventObserver* event_observer() const { return event_observer_; }
  /// Sets the observer of calls; null: none. The observer must outlive the transport, or be set to
  /// null before it is destroyed.
  void set_call_observer(CallObserver* observer) { call_observer_ = observer; }
  [[nodiscard]] CallObserver* call_observer() const { return call_observer_; }
  /// Sets the gate that cm asks before each call that the id's state allows, and before an event is
  /// fetched; null: none. The gate must outlive the transport, or be set to null before it is
  /// destroyed.
  void set_call_gate(verbs::CallGate* gate) { call_gate_ = gate; }
  [[nodiscard]] verbs::CallGate* call_gate() const { return call_gate_; }
  /// Returns the number that observers use for the next new id. Call it inside the critical section
  /// (verbs::Runtime::enter).
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
