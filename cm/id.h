// The connection manager's identifier: what a socket is to TCP.
#pragma once

#include <rdma/rdma_cma.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "cm/addrinfo.h"
#include "cm/conn_param.h"
#include "cm/ep_settings.h"
#include "cm/event.h"
#include "cm/event_channel.h"
#include "cm/memberships.h"
#include "cm/private_channel.h"
#include "transport/transport.h"

namespace anyrdma::cm {

struct DeviceUse;

/// One rdma_cm_id. An asynchronous id reports results as events on its channel. A synchronous id
/// has a channel of its own: a call that an event follows waits for the next event, of any type,
/// and succeeds if the event's status is 0 (result_of()). The event stays in raw()->event until the
/// next such call.
///
/// The transport's endpoint decides which call is legal in which state of the id. Every call may
/// fail with EINVAL in the wrong state, with ENXIO after DEVICE_REMOVAL (except destruction), and
/// with ENOENT after the channel was closed.
///
/// The id embeds the rdma_cm_id that C programs see. The fields of this struct are filled in when
/// events are fetched, and by bind and listen. If its `qp` is set, accept, disconnect and fetching
/// an event change the queue pair's state.
///
/// Threads: distinct ids are independent. Make calls on one id one at a time; other threads may
/// fetch and acknowledge its events meanwhile. Source: rdma_cm(7) and the page of each call,
/// librdmacm's cma.c.
class Id final : private transport::EndpointHandler {
 public:
  /// Creates an id in the state IDLE. `context` is the application's. `channel` must outlive all
  /// calls on the id. Errors: EINVAL for an unknown port space, ENODEV, ENOMEM.
  [[nodiscard]] static Result<std::unique_ptr<Id>> create(EventChannel& channel,
                                                          rdma_port_space space, void* context);
  /// Creates a synchronous id. Errors: as create() and EventChannel::create.
  [[nodiscard]] static Result<std::unique_ptr<Id>> create_synchronous(
      transport::Transport& transport, rdma_port_space space, void* context);
  /// Creates a synchronous id whose queue pair type is given, because the port space does not imply
  /// it (rdma_create_ep).
  [[nodiscard]] static Result<std::unique_ptr<Id>> create_synchronous(
      transport::Transport& transport, rdma_port_space space, void* context, ibv_qp_type type);
  /// Calls destroy() and drops its errors.
  ~Id() override;
  Id(const Id&) = delete;
  Id& operator=(const Id&) = delete;

  /// Destroys the id. Sends the CM message that its state requires, drops its unfetched events, and
  /// rejects its unfetched CONNECT_REQUESTs with reason 28. Then waits until all fetched events are
  /// acknowledged. The application must destroy the QP before. EINVAL: null. EDEADLK, in the
  /// simulator: no program is left that could acknowledge the events; the id is destroyed all the
  /// same.
  [[nodiscard]] static Result<void> destroy(std::unique_ptr<Id> id);

  /// Call for the ids of a program that has ended: counts all their fetched events as acknowledged,
  /// so that no call waits for them. Precondition: these ids and events are not used any more.
  static void forgive_all(std::span<Id* const> ids);

  [[nodiscard]] static Id& from(rdma_cm_id* raw) {
    return *reinterpret_cast<Raw*>(raw)->owner;  // raw is Raw's first member
  }
  [[nodiscard]] rdma_cm_id* raw() { return &raw_.id; }
  [[nodiscard]] const rdma_cm_id* raw() const { return &raw_.id; }
  [[nodiscard]] void* context() const { return raw_.id.context; }
  [[nodiscard]] ibv_qp* qp() const { return raw_.id.qp; }
  /// Returns the state of the id for traces and tests, as transport::Endpoint::state() does.
  [[nodiscard]] std::string_view state() const;
  [[nodiscard]] verbs::Runtime& runtime() const { return transport_.runtime(); }
  [[nodiscard]] EventChannel* channel() const { return channel_; }
  [[nodiscard]] bool is_synchronous() const { return private_channel_ != nullptr; }

  // --- addresses --------------------------------------------------------------------------------

  /// Binds to a local address; port 0 picks a free port. Errors: EINVAL for null or an unknown
  /// family, EADDRINUSE, EADDRNOTAVAIL, EACCES, ENODEV.
  [[nodiscard]] Result<void> bind(const sockaddr* local);
  /// Starts to resolve an address; ADDR_RESOLVED or ADDR_ERROR follows. `source` may be null.
  /// Errors: EINVAL for a null destination or a wrong family, ENETUNREACH, EHOSTUNREACH, ENODEV,
  /// EADDRNOTAVAIL.
  [[nodiscard]] Result<void> resolve_addr(const sockaddr* source, const sockaddr* destination,
                                          std::chrono::milliseconds timeout);
  /// Starts to resolve the route; ROUTE_RESOLVED or ROUTE_ERROR follows. Errors: EINVAL for timeout
  /// 0 or if ADDR_RESOLVED was not fetched, ENODEV.
  [[nodiscard]] Result<void> resolve_route(std::chrono::milliseconds timeout);
  /// Starts to listen; a CONNECT_REQUEST follows for each request. `backlog` limits the number of
  /// unfetched requests. Values outside 1..1024 mean 1024.
  [[nodiscard]] Result<void> listen(int backlog);
  [[nodiscard]] const sockaddr& local_address() const { return raw_.id.route.addr.src_addr; }
  [[nodiscard]] const sockaddr& peer_address() const { return raw_.id.route.addr.dst_addr; }
  /// Resolves a name as cm::resolve_addrinfo does, with its errors, and blocks as long.
  /// ADDRINFO_RESOLVED follows; then query_addrinfo() returns the answer. EBUSY: the last answer
  /// was not fetched. RAI_SA asks InfiniBand's subnet administrator, which no transport reaches:
  /// EOPNOTSUPP, or EINVAL without a service or if the id is not bound to a device.
  [[nodiscard]] Result<void> resolve_addrinfo(const char* node, const char* service,
                                              const rdma_addrinfo* hints);
  /// Returns the answer of resolve_addrinfo(), once. ENOENT: there is no answer, or it was already
  /// returned.
  [[nodiscard]] Result<Addrinfo> query_addrinfo();
  /// Returns the source port in network order; 0: there is none.
  [[nodiscard]] __be16 src_port() const;
  [[nodiscard]] __be16 dst_port() const;

  // --- connections ------------------------------------------------------------------------------

  /// Sends the connection request. ESTABLISHED (with a QP), CONNECT_RESPONSE (without one),
  /// REJECTED, UNREACHABLE or CONNECT_ERROR follows. A null `param` means the device's maxima.
  /// EINVAL: private data too long, depths above the device's, or null without a QP. After EINVAL
  /// the id may connect again.
  [[nodiscard]] Result<void> connect(const rdma_conn_param* param);
  /// Moves the QP to RTS, then accepts the request. ESTABLISHED follows, except on datagram ids. A
  /// null `param` repeats the request's parameters. EINVAL: as for connect(), or the peer has
  /// withdrawn the request. If the CM fails, the request is rejected and the QP is in ERR.
  [[nodiscard]] Result<void> accept(const rdma_conn_param* param);
  /// Rejects the request; the peer gets REJECTED with reason 28. EINVAL: the id's state does not
  /// allow it, or more than 148 bytes. After EINVAL nothing was sent.
  [[nodiscard]] Result<void> reject(std::span<const std::uint8_t> private_data);
  /// Rejects the request like reject(), but with reason 35 (rdma_reject_ece).
  [[nodiscard]] Result<void> reject_ece(std::span<const std::uint8_t> private_data);
  /// Moves the QP to ERR. Then sends a DREQ, or a DREP if the peer has sent a DREQ. EINVAL: never
  /// connected.
  [[nodiscard]] Result<void> disconnect();
  /// Completes a connection that has no id->qp, after CONNECT_RESPONSE. EINVAL: the state does not
  /// allow it.
  [[nodiscard]] Result<void> establish();
  /// Call for an asynchronous event of the id's QP. After IBV_EVENT_COMM_EST, ESTABLISHED follows.
  /// IBV_EVENT_PATH_MIG is passed to the CM. EISCONN: established already, which is harmless;
  /// EINVAL: any other event or state.
  [[nodiscard]] Result<void> notify(ibv_event_type event);

  // --- multicast (datagrams) --------------------------------------------------------------------

  /// Joins a multicast group. MULTICAST_JOIN or MULTICAST_ERROR follows, whose ud.private_data is
  /// `context`. Fetching MULTICAST_JOIN attaches the QP that exists then, except for send-only
  /// members. EINVAL: null, wrong family, not a datagram id, or no device; ENODEV; 524 (the
  /// kernel's ENOTSUPP): IPv6 group on RoCE v2.
  [[nodiscard]] Result<void> join_multicast(
      const sockaddr* group, void* context,
      transport::JoinState state = transport::JoinState::kFullMember);
  /// Leaves the group that the newest join of this address joined, even if the join has no answer
  /// yet. Drops the join's unfetched events, waits until its fetched events are acknowledged, and
  /// detaches the QP. On a synchronous id it acknowledges the event in raw()->event itself. Errors:
  /// EINVAL, EADDRNOTAVAIL if not joined, EDEADLK as for destroy().
  [[nodiscard]] Result<void> leave_multicast(const sockaddr* group);

  // --- shared receive queue ---------------------------------------------------------------------

  /// Creates the shared receive queue from which later QPs of the id receive. A null `pd` is as for
  /// create_qp(). `attr` returns the granted sizes. EINVAL: null attr, no device, another device's
  /// pd; EOPNOTSUPP: XRC; also errno values of ibv_create_srq.
  [[nodiscard]] Result<void> create_srq(ibv_pd* pd, ibv_srq_init_attr* attr);
  /// Destroys the id's shared receive queue. EINVAL: there is none; EBUSY: a QP uses it.
  [[nodiscard]] Result<void> destroy_srq();

  // --- queue pair -------------------------------------------------------------------------------

  /// Creates the id's QP and moves it to INIT; a datagram id's QP to RTS. A null `pd` means the
  /// protection domain that all ids of the device share. CQs that `attr` lacks are created, with
  /// completion channels, and belong to the id. `attr` returns the granted sizes. EINVAL: null
  /// attr, no device, an existing QP, another device's pd, or a withdrawn request. Also errno
  /// values of verbs.
  [[nodiscard]] Result<void> create_qp(ibv_pd* pd, ibv_qp_init_attr* attr);
  /// Destroys the QP and the CQs that were created with it. Waits before until fetches in other
  /// threads have finished with the QP. EINVAL: there is no QP; also errno values of
  /// ibv_destroy_qp.
  [[nodiscard]] Result<void> destroy_qp();
  /// Returns the attributes and the mask with which ibv_modify_qp moves a QP to `state`. EINVAL: no
  /// device, or the QP cannot go to that state now.
  [[nodiscard]] Result<transport::QpTransition> init_qp_attr(ibv_qp_state state);

  // --- enhanced connection establishment --------------------------------------------------------

  /// Sets the ECE options that connect or accept announces, for a program that creates its QP
  /// itself. EINVAL: the id has a QP, the vendor is 0, or unknown fields are set.
  [[nodiscard]] Result<void> set_local_ece(const ibv_ece& ece);
  /// Returns the ECE options that the peer announced; vendor 0: none yet. EINVAL: the id has a QP.
  [[nodiscard]] Result<ibv_ece> remote_ece() const;

  // --- the rest ---------------------------------------------------------------------------------

  /// Sets an option of the id, as rdma_set_option does. EINVAL: wrong size or state; ENOSYS:
  /// unknown level or option.
  [[nodiscard]] Result<void> set_option(int level, int option, std::span<const std::uint8_t> value);
  /// Moves the id and its unfetched events to another channel of the same transport. Then waits
  /// until the fetched events are acknowledged. EINVAL: channel of another transport; EDEADLK as
  /// for destroy().
  [[nodiscard]] Result<void> migrate(EventChannel& channel);
  /// Moves the id to a channel of its own, so that its calls wait for events. EINVAL: synchronous
  /// already; EMFILE, ENOMEM; EDEADLK as for destroy().
  [[nodiscard]] Result<void> make_synchronous();

  /// Puts an event RDMA_CM_EVENT_USER with these values into the id's channel. On an id of a
  /// connection request that accept() has not been called for, the event is lost, as on Linux.
  [[nodiscard]] Result<void> write_event(int status, std::uint64_t argument);

  // --- synchronous ids --------------------------------------------------------------------------

  /// Waits for the next event of a synchronous id, after a call that raises an event without
  /// blocking (set_option IB_PATH). Returns success at once on an asynchronous id.
  [[nodiscard]] Result<void> complete();
  /// Waits for a listener's next request and returns its id, which is synchronous, too. The
  /// request's event stays in the new id's raw()->event. EINVAL: this id is asynchronous, or
  /// another event came. After a failure the event stays in this id's raw()->event. If that event
  /// is a request, its acknowledgement rejects the request.
  [[nodiscard]] Result<std::unique_ptr<Id>> get_request();
  /// Called by create_ep(): from now on get_request() creates a QP with these attributes for every
  /// new id, on `pd` (if given). It then also fails as create_qp() does. Null attributes: no QP.
  [[nodiscard]] Result<void> set_request_qp(ibv_pd* pd, const ibv_qp_init_attr* attr);
  /// Called by create_ep(): sets bytes that precede the private data of connect(), until connect()
  /// succeeds. connect() fails with EINVAL if both together are too long.
  void set_connect_prefix(std::span<const std::uint8_t> data);

  /// The numbers of fetched and of acknowledged events of an id so far, for messages.
  struct Ledger {
    std::uint64_t fetched = 0;
    std::uint64_t acknowledged = 0;
  };
  [[nodiscard]] Ledger ledger() const { return ledger_; }
  /// Returns the number by which transport::EventObserver identifies the id.
  [[nodiscard]] std::uint64_t number() const { return number_; }

 private:
  friend class Event;
  friend class EventChannel;
  using Call = transport::Call;
  /// The rdma_cm_id that C programs see, with a pointer to its Id.
  struct Raw {
    rdma_cm_id id{};
    Id* owner = nullptr;
  };

  Id(transport::Transport& transport, rdma_port_space space, ibv_qp_type type, void* context);

  // --- id.cc: life ------------------------------------------------------------------------------
  [[nodiscard]] Result<void> open(EventChannel& channel);
  [[nodiscard]] Result<void> close();
  /// Puts the events that were not fetched into `dropped`. `tells`: the observer of calls hears of
  /// the end now.
  void end(EventQueue& dropped, bool tells);
  void orphan(EventQueue& dropped);  ///< the channel is being destroyed under the id
  static void discard(verbs::Runtime& runtime, EventQueue& events);
  void join(EventChannel& channel);
  void leave_channel();

  // --- id_ledger.cc: fetched and acknowledged ---------------------------------------------------
  void charge(EventRecord& record);
  /// Counts the event as acknowledged. If it was acknowledged before, fails with EINVAL and reports
  /// the program's mistake.
  [[nodiscard]] static Result<void> acknowledge(EventRecord& record);
  [[nodiscard]] static Result<void> refuse_acknowledgement(const EventRecord& record);
  /// Waits until all fetched events are acknowledged. `purpose` is the reason that reports of hangs
  /// print.
  [[nodiscard]] Result<void> drain(const char* purpose);
  /// Waits until all fetched events are acknowledged, as the function above does. `told` becomes
  /// true once the runtime knows of the wait.
  [[nodiscard]] Result<void> drain(const char* purpose, bool& told);
  /// Waits only for the events of this membership.
  [[nodiscard]] Result<void> drain(const Membership& leaving);
  [[nodiscard]] bool owes_itself() const;
  [[nodiscard]] bool is_drained() const;
  /// Returns a line for each event that drain() waits for.
  [[nodiscard]] std::string debts() const;
  void forgive();  ///< the rest will not be acknowledged

  // --- id_call.cc: the endpoint's verdicts ------------------------------------------------------

  /// Returns the error with which the call would fail in the id's present state: ENOENT, or an
  /// error of the endpoint.
  [[nodiscard]] Result<void> check(Call call) const;
  [[nodiscard]] bool is_alive() const { return check(Call::kQuery).has_value(); }
  template <class Do>
  [[nodiscard]] Result<void> perform(Call call, Do&& action) {
    if (Result<void> legal = check(call); !legal) return refused(call, legal);
    Result<void> result;
    if (transport_.call_gate() != nullptr) [[unlikely]]
      result = admit(call);
    if (result) result = action();
    if (transport_.call_observer() != nullptr) [[unlikely]] {
      report_call(to_string(call), result ? 0 : result.error().value());
    }
    return result;
  }
  /// Reports to observers why a call is refused, and returns the error.
  [[nodiscard]] Result<void> refused(Call call, Result<void> why) const;
  /// Reports to observers why a call is refused, and returns the error. Called outside the critical
  /// section (verbs::Runtime::enter).
  [[nodiscard]] Result<void> refuse(Call call, Result<void> why) const;
  /// Returns the error that a fault plan injects before the call has an effect.
  [[nodiscard]] Result<void> admit(Call call);
  void report_call(std::string_view call, int error) const;
  void report_handshake(std::string_view call, const transport::ConnectionParameters& given) const;
  /// Calls `Do` inside the critical section (verbs::Runtime::enter), then complete() outside of it.
  template <class Do>
  [[nodiscard]] Result<void> perform_and_complete(Call call, Do&& action) {
    {
      verbs::CriticalSection section(runtime());
      Result<void> started = perform(call, std::forward<Do>(action));
      if (!started) return started;
    }
    return complete();
  }
  [[nodiscard]] Result<void> adopt(const transport::Binding& binding);
  [[nodiscard]] Result<void> notify_inside(ibv_event_type event);
  /// Whether the QP is that of this id's connection: id->qp, or the QP whose number the program
  /// gave to accept().
  [[nodiscard]] bool speaks_for(const ibv_qp& qp) const;
  [[nodiscard]] Result<void> reject_with(std::uint8_t reason, std::span<const std::uint8_t> data);
  [[nodiscard]] Result<void> connect_with_prefix(transport::ConnectionParameters& parameters);
  void describe_qp(transport::ConnectionParameters& parameters) const;

  // --- id_migrate.cc ----------------------------------------------------------------------------
  [[nodiscard]] Result<void> move_to(EventChannel& channel);

  // --- id_upcall.cc: events from below, inside the critical section -----------------------------
  void on_event(const transport::EndpointEvent& event) override;
  transport::EndpointHandler* on_connect_request(std::unique_ptr<transport::Endpoint>& child,
                                                 const transport::EndpointEvent& event) override;
  void on_state(std::string_view state) override;

  // --- own_events.cc ----------------------------------------------------------------------------
  void enqueue_own(int type, int status, std::uint64_t argument);
  [[nodiscard]] bool is_told() const;
  [[nodiscard]] Result<void> resolve_by_name(const char* node, const char* service,
                                             const rdma_addrinfo* hints);
  [[nodiscard]] Result<void> refuse_administrator(const char* node, const char* service, int flags);

  // --- id_fetch.cc: what happens when an event is fetched, outside of it ------------------------

  /// Does what librdmacm does when this event is fetched. False: the application must not see the
  /// event.
  [[nodiscard]] bool on_fetch(EventRecord& record);
  [[nodiscard]] bool fetch_request(const Id& listener);
  [[nodiscard]] bool fetch_address();
  [[nodiscard]] bool fetch_route();
  void fetch_response(rdma_cm_event& event, const ibv_ece& ece);
  /// Moves the QP and sends the RTU. Returns 0, or the status of a CONNECT_ERROR.
  [[nodiscard]] int answer_response(const ibv_ece& ece);

  // --- id_ece.cc --------------------------------------------------------------------------------

  /// Reads the ECE options of a new QP, or sets the options of a connection request on the QP.
  [[nodiscard]] Result<void> offer_ece(ibv_qp& qp);
  /// Reads from the QP which of the peer's ECE options it has accepted. accept() announces these
  /// options.
  [[nodiscard]] Result<void> take_ece(ibv_qp& qp);
  [[nodiscard]] bool is_acceptable(const ibv_ece& answer) const;
  [[nodiscard]] Result<void> agree_on_ece(const ibv_ece& answer);

  // --- id_multicast.cc --------------------------------------------------------------------------

  /// False: the QP could not be attached.
  [[nodiscard]] bool fetch_join(EventRecord& record);
  void detach(const Membership& membership);
  void forget_event_of(const Membership& membership);

  // --- id_qp.cc ---------------------------------------------------------------------------------

  /// Call before a fetch changes the QP, and release_qp() after that. destroy_qp() in another
  /// thread waits meanwhile. False: there is no QP, or it is about to be destroyed.
  [[nodiscard]] bool hold_qp();
  void release_qp();
  [[nodiscard]] Result<ibv_qp*> make_qp(ibv_pd& pd, ibv_qp_init_attr& wanted);
  /// Moves the QP of a datagram id to RTS at once, since datagrams need no peer.
  [[nodiscard]] Result<void> start_ud_qp(ibv_qp& qp);
  [[nodiscard]] Result<void> make_cqs(ibv_qp_init_attr& attr);
  void destroy_cqs();
  /// Moves the QP to `state` with the attributes of the transport, and with the application's
  /// numbers of READs and atomics, if given.
  [[nodiscard]] Result<void> move_qp(ibv_qp& qp, ibv_qp_state state, const Depths* depths);
  [[nodiscard]] Result<void> bring_qp_up(const Depths* depths);
  [[nodiscard]] Result<void> flush_qp();

  Raw raw_;
  transport::Transport& transport_;
  std::uint64_t number_ = 0;
  EventChannel* channel_ = nullptr;  ///< null after the channel was closed

  /// The channel of a synchronous id; null for others.
  std::unique_ptr<PrivateChannel> private_channel_;
  std::unique_ptr<transport::Endpoint> endpoint_;
  bool connect_error_ = false;
  bool closed_ = false;
  bool waiting_ = false;            ///< a thread waits until all events are acknowledged
  bool qp_going_ = false;           ///< a call of destroy_qp() is in progress
  unsigned qp_holds_ = 0;           ///< number of fetches that work on the QP
  std::uint32_t accepted_qpn_ = 0;  ///< the QP number that accept() got, for an id without id->qp
  ChargedEvents unfetched_;         ///< events charged to this id, still in its channel, in order
  EventQueue fetched_;              ///< events charged to this id, not yet acknowledged
  ibv_ece local_ece_{};             ///< what connect and accept announce
  ibv_ece remote_ece_{};            ///< ECE options that the peer announced
  Depths requested_{};              ///< parameters of the request that created this id
  Ledger ledger_;
  /// Settings of an id that create_ep() created; else null.
  std::unique_ptr<EpSettings> ep_;
  std::unique_ptr<Memberships> memberships_;  ///< made by the first join

  /// The membership whose events drain() waits for; null: all events.
  const Membership* leaving_ = nullptr;
  std::unique_ptr<verbs::Semaphore> acknowledged_;  ///< created when a thread has to wait
  bool resolving_addrinfo_ = false;                 ///< from resolve_addrinfo() to query_addrinfo()
  Addrinfo resolved_addrinfo_;
  DeviceUse* device_ = nullptr;
  ibv_sa_path_rec path_{};
  Id* previous_ = nullptr;  ///< the ids before and after this one on the channel
  Id* next_ = nullptr;
};

}  // namespace anyrdma::cm
