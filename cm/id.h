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

/// One rdma_cm_id. Asynchronous: results arrive as events on its channel. Synchronous: it has a
/// channel of its own, and where a call below says that an event follows, the call waits for the
/// next event of any type and succeeds exactly when its status is 0 (result_of()); the event stays
/// in raw()->event until the next such call. Which call is legal when, the endpoint decides: an
/// illegal one fails with EINVAL. After DEVICE_REMOVAL everything but destruction gives ENXIO;
/// after the channel's end, ENOENT. Embeds the rdma_cm_id that C programs see. Its fields are
/// filled when events are fetched, and by bind and listen; qp, when set, is moved through its
/// states by accept, disconnect and fetching. Threads: distinct ids freely; calls on one id one at
/// a time, except that events may be fetched and acknowledged meanwhile. Source: rdma_cm(7) and the
/// page of each call, librdmacm's cma.c.
class Id final : private transport::EndpointHandler {
 public:
  /// A fresh id in IDLE; `context` is the application's. `channel` outlives the calls on the id.
  /// EINVAL: unknown port space; ENODEV, ENOMEM.
  [[nodiscard]] static Result<std::unique_ptr<Id>> create(EventChannel& channel,
                                                          rdma_port_space space, void* context);
  /// A fresh synchronous id. Errors of the above and of EventChannel::create.
  [[nodiscard]] static Result<std::unique_ptr<Id>> create_synchronous(
      transport::Transport& transport, rdma_port_space space, void* context);
  /// The same with a type of queue pair that the port space does not imply (rdma_create_ep).
  [[nodiscard]] static Result<std::unique_ptr<Id>> create_synchronous(
      transport::Transport& transport, rdma_port_space space, void* context, ibv_qp_type type);
  /// destroy(), whose errors it cannot report.
  ~Id() override;
  Id(const Id&) = delete;
  Id& operator=(const Id&) = delete;

  /// Ends the id with the message its state calls for, drops its unfetched events (destroying the
  /// new ids of unfetched CONNECT_REQUESTs, whose peers see REJECTED 28), then waits until all
  /// fetched ones are acknowledged. The QP is the application's to destroy before. EINVAL: null.
  /// EDEADLK: destroyed all the same, but in the simulator nobody was left to acknowledge the rest.
  [[nodiscard]] static Result<void> destroy(std::unique_ptr<Id> id);

  /// For a program that is gone: all events that it was shown of these ids count as acknowledged,
  /// so that nobody waits for that. Nobody else uses the ids or the events any more.
  static void forgive_all(std::span<Id* const> ids);

  [[nodiscard]] static Id& from(rdma_cm_id* raw) {
    return *reinterpret_cast<Raw*>(raw)->owner;  // raw is Raw's first member
  }
  [[nodiscard]] rdma_cm_id* raw() { return &raw_.id; }
  [[nodiscard]] const rdma_cm_id* raw() const { return &raw_.id; }
  [[nodiscard]] void* context() const { return raw_.id.context; }
  [[nodiscard]] ibv_qp* qp() const { return raw_.id.qp; }
  /// transport::Endpoint::state(), for traces and tests.
  [[nodiscard]] std::string_view state() const;
  [[nodiscard]] verbs::Runtime& runtime() const { return transport_.runtime(); }
  [[nodiscard]] EventChannel* channel() const { return channel_; }
  [[nodiscard]] bool is_synchronous() const { return private_channel_ != nullptr; }

  // --- addresses --------------------------------------------------------------------------------
  /// Port 0 picks one. EINVAL: null, family; EADDRINUSE, EADDRNOTAVAIL, EACCES, ENODEV.
  [[nodiscard]] Result<void> bind(const sockaddr* local);
  /// ADDR_RESOLVED or ADDR_ERROR follows. `source` may be null. EINVAL: null destination, family;
  /// ENETUNREACH, EHOSTUNREACH, ENODEV, EADDRNOTAVAIL.
  [[nodiscard]] Result<void> resolve_addr(const sockaddr* source, const sockaddr* destination,
                                          std::chrono::milliseconds timeout);
  /// ROUTE_RESOLVED or ROUTE_ERROR follows. EINVAL: timeout 0, ADDR_RESOLVED not fetched; ENODEV.
  [[nodiscard]] Result<void> resolve_route(std::chrono::milliseconds timeout);
  /// CONNECT_REQUESTs follow. `backlog` bounds the unfetched ones; outside 1..1024 it means 1024.
  [[nodiscard]] Result<void> listen(int backlog);
  [[nodiscard]] const sockaddr& local_address() const { return raw_.id.route.addr.src_addr; }
  [[nodiscard]] const sockaddr& peer_address() const { return raw_.id.route.addr.dst_addr; }
  /// Looks an address up as cm::resolve_addrinfo does, with its errors and for as long as it takes;
  /// ADDRINFO_RESOLVED follows, and query_addrinfo() has the answer. EBUSY: the last answer is not
  /// fetched. RAI_SA asks InfiniBand's subnet administrator, whom no transport here reaches:
  /// EOPNOTSUPP with RAI_DNS or a node, EINVAL without service or on an id that is not bound to a
  /// device, else EOPNOTSUPP.
  [[nodiscard]] Result<void> resolve_addrinfo(const char* node, const char* service,
                                              const rdma_addrinfo* hints);
  /// ENOENT: nothing was resolved, or it was taken already.
  [[nodiscard]] Result<Addrinfo> query_addrinfo();
  /// Network order; 0 when there is none.
  [[nodiscard]] __be16 src_port() const;
  [[nodiscard]] __be16 dst_port() const;

  // --- connections ------------------------------------------------------------------------------
  /// Sends the request; ESTABLISHED (with a QP), CONNECT_RESPONSE (without), REJECTED, UNREACHABLE
  /// or CONNECT_ERROR follows. Null means the device's maxima. EINVAL: private data too long,
  /// depths above the device's, null without a QP; the id may connect again then.
  [[nodiscard]] Result<void> connect(const rdma_conn_param* param);
  /// Moves the QP to RTS, then accepts; ESTABLISHED follows, except on datagram ids. Null echoes
  /// the request. EINVAL as connect, null without a QP, and request withdrawn. A failure of the CM
  /// has rejected the request and the QP is in error.
  [[nodiscard]] Result<void> accept(const rdma_conn_param* param);
  /// EINVAL: too late, or more than 148 bytes: nothing is sent then.
  [[nodiscard]] Result<void> reject(std::span<const std::uint8_t> private_data);
  /// rdma_reject_ece: as reject, but the peer sees the reason 35.
  [[nodiscard]] Result<void> reject_ece(std::span<const std::uint8_t> private_data);
  /// Moves the QP to error, then sends DREQ or DREP if either is due. EINVAL: never connected.
  [[nodiscard]] Result<void> disconnect();
  /// Completes a connection that has no id->qp, after CONNECT_RESPONSE. EINVAL.
  [[nodiscard]] Result<void> establish();
  /// IBV_EVENT_COMM_EST: ESTABLISHED follows; IBV_EVENT_PATH_MIG: the CM takes note. EISCONN:
  /// established already (harmless); EINVAL.
  [[nodiscard]] Result<void> notify(ibv_event_type event);

  // --- multicast (datagrams) --------------------------------------------------------------------
  /// Joins a group: MULTICAST_JOIN or MULTICAST_ERROR follows, whose ud.private_data is `context`.
  /// Fetching MULTICAST_JOIN attaches the QP that exists then, except for send-only members.
  /// EINVAL: null, family, not a datagram id, no device; ENODEV; 524 (the kernel's ENOTSUPP): IPv6
  /// group on RoCE v2.
  [[nodiscard]] Result<void> join_multicast(
      const sockaddr* group, void* context,
      transport::JoinState state = transport::JoinState::kFullMember);
  /// Ends the newest join of this address, answered or not: drops its unfetched events, waits until
  /// the fetched ones are acknowledged (a synchronous id's own one is, now), detaches the QP.
  /// EINVAL; EADDRNOTAVAIL: not joined; EDEADLK as destroy.
  [[nodiscard]] Result<void> leave_multicast(const sockaddr* group);

  // --- shared receive queue ---------------------------------------------------------------------
  /// Makes the SRQ that later QPs of the id receive from. `pd` null: as create_qp. `attr` receives
  /// what was granted. EINVAL: null attr, no device, other device's pd; EOPNOTSUPP: XRC; errno of
  /// ibv_create_srq.
  [[nodiscard]] Result<void> create_srq(ibv_pd* pd, ibv_srq_init_attr* attr);
  /// EINVAL: none; EBUSY: a QP uses it.
  [[nodiscard]] Result<void> destroy_srq();

  // --- queue pair -------------------------------------------------------------------------------
  /// Creates the id's QP and moves it to INIT, of a datagram id to RTS. `pd` null: the device's
  /// shared one. CQs that `attr` lacks are made, with their completion channels, and belong to the
  /// id. `attr` receives what was granted. EINVAL: null attr, no device, QP exists, other device's
  /// pd, dead request; errno of verbs.
  [[nodiscard]] Result<void> create_qp(ibv_pd* pd, ibv_qp_init_attr* attr);
  /// Destroys the QP and the CQs made with it, once fetches that work on the QP are through.
  /// EINVAL: none; errno of ibv_destroy_qp.
  [[nodiscard]] Result<void> destroy_qp();
  /// What ibv_modify_qp needs to reach `state`. EINVAL: no device, or not reachable now.
  [[nodiscard]] Result<transport::QpTransition> init_qp_attr(ibv_qp_state state);

  // --- enhanced connection establishment --------------------------------------------------------
  /// For a program that makes its QP itself: what connect or accept announces. EINVAL: the id has a
  /// QP, vendor 0, unknown fields.
  [[nodiscard]] Result<void> set_local_ece(const ibv_ece& ece);
  /// What the peer announced; vendor 0: nothing yet. EINVAL: the id has a QP.
  [[nodiscard]] Result<ibv_ece> remote_ece() const;

  // --- the rest ---------------------------------------------------------------------------------
  /// rdma_set_option. EINVAL: size, state; ENOSYS: unknown level or option.
  [[nodiscard]] Result<void> set_option(int level, int option, std::span<const std::uint8_t> value);
  /// Moves the id and its unfetched events to another channel of the same transport, then waits
  /// until the fetched ones are acknowledged. EINVAL: other transport; EDEADLK as destroy.
  [[nodiscard]] Result<void> migrate(EventChannel& channel);
  /// Moves the id to a channel of its own. EINVAL: synchronous already; EMFILE, ENOMEM; EDEADLK as
  /// destroy.
  [[nodiscard]] Result<void> make_synchronous();

  /// Puts RDMA_CM_EVENT_USER with these two into the id's channel. As with Linux, an incoming id
  /// has no events until accept(): it is lost then.
  [[nodiscard]] Result<void> write_event(int status, std::uint64_t argument);

  // --- synchronous ids --------------------------------------------------------------------------
  /// What the blocking calls end with, for calls that do not block by themselves but cause an event
  /// (set_option IB_PATH): waits for the next event. Success at once on an asynchronous id.
  [[nodiscard]] Result<void> complete();
  /// Waits for a listener's next request and gives its id, synchronous as well. The request's event
  /// stays in the new id's raw()->event. EINVAL: asynchronous, or another event came; whatever
  /// fails stays in this id's raw()->event, and a request in there is rejected with it.
  [[nodiscard]] Result<std::unique_ptr<Id>> get_request();
  /// For create_ep(): get_request() makes a QP like this (if given) for every new id, on `pd` (if
  /// given), and fails as create_qp() does.
  [[nodiscard]] Result<void> set_request_qp(ibv_pd* pd, const ibv_qp_init_attr* attr);
  /// For create_ep(): what stands before connect()'s private data, until connect() succeeds. EINVAL
  /// of connect() when both together are too long.
  void set_connect_prefix(std::span<const std::uint8_t> data);

  /// Fetched and acknowledged events so far, for diagnosis.
  struct Ledger {
    std::uint64_t fetched = 0;
    std::uint64_t acknowledged = 0;
  };
  [[nodiscard]] Ledger ledger() const { return ledger_; }
  /// What transport::EventObserver calls the id.
  [[nodiscard]] std::uint64_t number() const { return number_; }

 private:
  friend class Event;
  friend class EventChannel;
  using Call = transport::Call;
  /// The C struct together with the way back to us.
  struct Raw {
    rdma_cm_id id{};
    Id* owner = nullptr;
  };

  Id(transport::Transport& transport, rdma_port_space space, ibv_qp_type type, void* context);

  // --- id.cc: life ------------------------------------------------------------------------------
  [[nodiscard]] Result<void> open(EventChannel& channel);
  [[nodiscard]] Result<void> close();
  void end(EventQueue& dropped);
  void orphan(EventQueue& dropped);  ///< the channel is being destroyed under the id
  static void discard(verbs::Runtime& runtime, EventQueue& events);
  void join(EventChannel& channel);
  void leave_channel();

  // --- id_ledger.cc: fetched and acknowledged ---------------------------------------------------
  void charge(EventRecord& record);
  /// EINVAL, and reported as the program's mistake: it was acknowledged already.
  [[nodiscard]] static Result<void> acknowledge(EventRecord& record);
  [[nodiscard]] static Result<void> refuse_acknowledgement(const EventRecord& record);
  /// Waits until all are acknowledged; `purpose` is for who asks why.
  [[nodiscard]] Result<void> drain(const char* purpose);
  [[nodiscard]] Result<void> drain(const Membership& leaving);  ///< its events only
  [[nodiscard]] bool is_drained() const;
  /// The events that drain() waits for, a line each.
  [[nodiscard]] std::string debts() const;
  void forgive();  ///< nobody will acknowledge the rest

  // --- id_call.cc: the endpoint's verdicts ------------------------------------------------------
  /// ENOENT, or what the endpoint says.
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
  /// Tells observers why a call goes no further, and gives it back.
  [[nodiscard]] Result<void> refused(Call call, Result<void> why) const;
  /// The same from outside of the critical section.
  [[nodiscard]] Result<void> refuse(Call call, Result<void> why) const;
  /// What a fault plan lets the call fail with before it has an effect.
  [[nodiscard]] Result<void> admit(Call call);
  void report_call(std::string_view call, int error) const;
  void report_handshake(std::string_view call, const transport::ConnectionParameters& given) const;
  /// In the critical section, then complete() outside of it.
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
  /// Whether its connection is the QP's: id->qp, or the one that accept() named.
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
  /// False: the application must not see the event.
  [[nodiscard]] bool on_fetch(EventRecord& record);
  [[nodiscard]] bool fetch_request(const Id& listener);
  [[nodiscard]] bool fetch_address();
  [[nodiscard]] bool fetch_route();
  void fetch_response(rdma_cm_event& event, const ibv_ece& ece);
  /// Moves the QP and sends RTU. 0, or the status of a CONNECT_ERROR.
  [[nodiscard]] int answer_response(const ibv_ece& ece);

  // --- id_ece.cc --------------------------------------------------------------------------------
  /// A new QP's own options become the id's; those of a request are set on it.
  [[nodiscard]] Result<void> offer_ece(ibv_qp& qp);
  /// The options that the QP made of the peer's become the id's.
  [[nodiscard]] Result<void> take_ece(ibv_qp& qp);
  [[nodiscard]] bool is_acceptable(const ibv_ece& answer) const;
  [[nodiscard]] Result<void> agree_on_ece(const ibv_ece& answer);

  // --- id_multicast.cc --------------------------------------------------------------------------
  /// False: the QP could not be attached.
  [[nodiscard]] bool fetch_join(EventRecord& record);
  void detach(const Membership& membership);
  void forget_event_of(const Membership& membership);

  // --- id_qp.cc ---------------------------------------------------------------------------------
  /// For the work of a fetch on the QP: destroy_qp(), in another thread, waits for release_qp().
  /// False: there is no QP, or it is about to go.
  [[nodiscard]] bool hold_qp();
  void release_qp();
  [[nodiscard]] Result<ibv_qp*> make_qp(ibv_pd& pd, ibv_qp_init_attr& wanted);
  /// To RTS at once: datagrams need no peer.
  [[nodiscard]] Result<void> start_ud_qp(ibv_qp& qp);
  [[nodiscard]] Result<void> make_cqs(ibv_qp_init_attr& attr);
  void destroy_cqs();
  /// A step of the QP as the transport describes it, with the application's depths if given.
  [[nodiscard]] Result<void> move_qp(ibv_qp& qp, ibv_qp_state state, const Depths* depths);
  [[nodiscard]] Result<void> bring_qp_up(const Depths* depths);
  [[nodiscard]] Result<void> flush_qp();

  Raw raw_;
  transport::Transport& transport_;
  std::uint64_t number_ = 0;
  EventChannel* channel_ = nullptr;                  ///< null once it was destroyed
  std::unique_ptr<PrivateChannel> private_channel_;  ///< of a synchronous id; else null
  std::unique_ptr<transport::Endpoint> endpoint_;
  bool connect_error_ = false;
  bool closed_ = false;
  bool waiting_ = false;            ///< somebody waits until is_drained()
  bool qp_going_ = false;           ///< destroy_qp() is under way
  unsigned qp_holds_ = 0;           ///< fetches that work on the QP
  std::uint32_t accepted_qpn_ = 0;  ///< without id->qp
  ChargedEvents unfetched_;         ///< events charged to this id, still in its channel, in order
  EventQueue fetched_;              ///< events charged to this id, not yet acknowledged
  ibv_ece local_ece_{};             ///< what connect and accept announce
  ibv_ece remote_ece_{};            ///< what the peer announced
  Depths requested_{};              ///< of the request behind an incoming id
  Ledger ledger_;
  std::unique_ptr<EpSettings> ep_;                  ///< of ids made by create_ep()
  std::unique_ptr<Memberships> memberships_;        ///< made by the first join
  const Membership* leaving_ = nullptr;             ///< whose events are waited for; null: all
  std::unique_ptr<verbs::Semaphore> acknowledged_;  ///< made when somebody has to wait
  bool resolving_addrinfo_ = false;                 ///< from resolve_addrinfo() to query_addrinfo()
  Addrinfo resolved_addrinfo_;
  DeviceUse* device_ = nullptr;
  ibv_sa_path_rec path_{};
  Id* previous_ = nullptr;  ///< neighbours on the channel
  Id* next_ = nullptr;
};

}  // namespace anyrdma::cm
