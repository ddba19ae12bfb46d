// The CM agent of one device. It passes MADs to connections, creates connections for new requests,
// and finds duplicates and stale connections. It does no I/O: its inputs are MADs, commands and
// time; its outputs are actions.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>

#include "transport/ibcm/profile.h"
#include "verbs/random.h"
#include "verbs/result.h"
#include "verbs/runtime.h"
#include "verbs/time.h"
#include "verbs/wire/ids.h"

namespace anyrdma::ibcm {

using verbs::Duration;
using verbs::Instant;
using verbs::Result;
using wire::CommId;
using wire::Guid;
using wire::Psn;
using wire::Qpn;
using wire::ServiceId;

inline constexpr std::size_t kMadBytes = 256;

/// Reject reasons that this agent gives or acts upon (ib_cm_rej_reason).
inline constexpr std::uint8_t kRejTimeout = 4;
inline constexpr std::uint8_t kRejInvalidServiceId = 8;
inline constexpr std::uint8_t kRejStaleConnection = 10;
inline constexpr std::uint8_t kRejConsumerDefined = 28;
inline constexpr std::uint8_t kRejVendorOption = 35;  ///< only when its owner says so

/// The results of a service resolution (SIDR) that this agent returns (ib_cm_sidr_status).
inline constexpr std::uint8_t kSidrSuccess = 0;
inline constexpr std::uint8_t kSidrUnsupported = 1;  ///< no listener
inline constexpr std::uint8_t kSidrReject = 2;

/// The states of a CM id, with the names and numbers of ib_cm_state.
enum class State : std::uint8_t {
  kIdle,
  kListen,
  kReqSent,
  kReqRcvd,
  kMraReqSent,
  kMraReqRcvd,
  kRepSent,
  kRepRcvd,
  kMraRepSent,
  kMraRepRcvd,
  kEstablished,
  kDreqSent,
  kDreqRcvd,
  kTimewait,
  kSidrReqSent,
  kSidrReqRcvd,
};

using Gid = std::array<std::uint8_t, 16>;

/// The path to the peer's QP1: the two GIDs of a RoCE v2 path.
struct Path {
  Gid source{};                  ///< our GID
  Gid destination{};             ///< the peer's GID
  std::uint32_t flow_label = 0;  ///< 20 bits; Linux: source port * 31 + destination port
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 64;
  std::uint8_t mtu = 5;               ///< ibv_mtu
  std::uint8_t packet_lifetime = 18;  ///< the route's owner takes it from the profile
  bool operator==(const Path&) const = default;
};

/// Enhanced connection establishment: options of the adapters of one vendor (0: none).
struct Ece {
  std::uint32_t vendor_id = 0;  ///< 24 bits; travels where once was a reserved field
  std::uint32_t options = 0;    ///< travels as the MAD's attribute modifier
  bool operator==(const Ece&) const = default;
};

/// The parameters of a REQ, sent or received.
struct ReqParameters {
  ServiceId service_id{};
  Path path{};
  Qpn qpn{};
  Psn starting_psn{};
  std::uint8_t responder_resources = 0;
  std::uint8_t initiator_depth = 0;
  std::uint8_t retry_count = 7;
  std::uint8_t rnr_retry_count = 7;
  std::uint8_t flow_control = 0;
  std::uint8_t srq = 0;
  std::uint8_t transport_service = 0;  ///< 0 RC, 1 UC
  std::uint8_t local_ca_ack_delay = 15;
  Ece ece{};
  std::span<const std::uint8_t> private_data{};  ///< at most 92 bytes
};
/// The parameters of a REP.
struct RepParameters {
  Qpn qpn{};
  Psn starting_psn{};
  std::uint8_t responder_resources = 0;
  std::uint8_t initiator_depth = 0;
  std::uint8_t flow_control = 0;
  std::uint8_t rnr_retry_count = 7;
  std::uint8_t srq = 0;
  std::uint8_t target_ack_delay = 15;
  Ece ece{};
  std::span<const std::uint8_t> private_data{};  ///< at most 196 bytes
};

/// The parameters of a SIDR_REQ, the question of a datagram service.
struct SidrReqParameters {
  ServiceId service_id{};
  Path path{};
  std::span<const std::uint8_t> private_data{};  ///< at most 216 bytes
};
/// The parameters of a SIDR_REP.
struct SidrRepParameters {
  std::uint8_t status = kSidrSuccess;
  Qpn qpn{};
  std::uint32_t qkey = 0;
  Ece ece{};
  std::span<const std::uint8_t> private_data{};  ///< at most 136 bytes
};

/// The negotiated parameters of a connection, for moving the QP (cm_init_qp_rtr_attr / rts_attr).
struct ConnectionInfo {
  State state = State::kIdle;
  Path path{};
  Qpn remote_qpn{};
  Psn local_psn{};   ///< what we announced: our rq_psn
  Psn remote_psn{};  ///< what the peer announced: our sq_psn
  std::uint8_t responder_resources = 0;
  std::uint8_t initiator_depth = 0;
  std::uint8_t retry_count = 7;
  std::uint8_t rnr_retry_count = 7;
  std::uint8_t ack_timeout = 0;  ///< av.timeout exponent for the RTS transition
  std::uint8_t path_mtu = 5;     ///< ibv_mtu
};

/// A MAD that the driver must send from QP1.
struct SendMad {
  Path path{};
  std::array<std::uint8_t, kMadBytes> mad;
};

enum class UpcallKind : std::uint8_t {
  kReqReceived,
  kReqError,
  kRepReceived,
  kRepError,
  kRtuReceived,
  kUserEstablished,
  kRejReceived,
  kDreqReceived,
  kDreqError,
  kDrepReceived,
  kTimewaitExit,
  kSidrReqReceived,
  kSidrReqError,
  kSidrRepReceived,
};

/// An event for the user of the connection. Views stay valid until the next input.
struct Upcall {
  UpcallKind kind{};
  CommId id{};             ///< for kReqReceived, kSidrReqReceived: the new connection's id
  ServiceId service_id{};  ///< kReqReceived, kSidrReqReceived
  /// kReqReceived; of kSidrReqReceived only service_id, path and private_data.
  ReqParameters req{};
  RepParameters rep{};                           ///< kRepReceived
  SidrRepParameters sidr{};                      ///< kSidrRepReceived
  std::uint8_t reject_reason = 0;                ///< kRejReceived
  std::span<const std::uint8_t> private_data{};  ///< of the message, padded to its full length
};

/// The reason why a message was ignored, for traces, counters and tests.
enum class DropReason : std::uint8_t {
  kMalformed,
  kUnknownId,
  kWrongState,
  kDuplicate,
  kWrongQpn,
  kBacklogFull,
  kUnsupported,
};
/// A MAD that was ignored.
struct Dropped {
  DropReason reason{};
  std::uint16_t attribute = 0;  ///< the MAD's attribute id
};

using Action = std::variant<SendMad, Upcall, Dropped>;

/// Configuration that the driver sets once.
struct AgentConfig {
  Profile profile = kLinux61;
  Guid ca_guid{};
  /// New local comm ids are (id & id_mask) | id_tag, so that several processes on one host can
  /// route replies by id.
  std::uint32_t id_mask = 0xffffffff;
  std::uint32_t id_tag = 0;
};

/// Not thread-safe; used inside the owner's critical section. Errors of commands: EINVAL when the
/// connection's state does not allow it or data is too long; ENOMEM when ids run out.
class Agent {
 public:
  /// `runtime`, whose driver is called when there are actions, and `random` outlive the agent.
  /// Null: the owner looks for actions by itself.
  [[nodiscard]] static std::unique_ptr<Agent> create(const AgentConfig& config,
                                                     verbs::Random& random,
                                                     verbs::Runtime* runtime = nullptr);
  virtual ~Agent() = default;

  // --- listeners: a REQ without a listener for its service id is answered with REJ 8, a SIDR_REQ
  // with status 1
  // -------------------------------------------------------------------------------------
  virtual void listen(ServiceId service) = 0;  ///< counted: call as often as unlisten
  virtual void unlisten(ServiceId service) = 0;

  // --- commands ---------------------------------------------------------------------------------
  /// Sends REQ on a new connection and gives its id. EINVAL also when the path's MTU, its lifetime
  /// (below 31) or the transport service is none that a REQ can carry.
  [[nodiscard]] virtual Result<CommId> connect(Instant now, const ReqParameters& req) = 0;
  /// Call after kReqReceived was handled. True: REQ_RCVD -> MRA_REQ_SENT. False (no memory, backlog
  /// full): drops the connection without an answer. After kSidrReqReceived true has no effect, and
  /// false rejects, because the sender does not repeat an answered request.
  virtual void request_handled(CommId id, bool taken) = 0;
  /// Call between kReqReceived and the answer: sends the peer an MRA at once, with this time
  /// exponent of five bits. Linux sends an MRA only for a repeated request. No effect for an id
  /// that has ended.
  virtual void postpone(CommId id, std::uint8_t exponent) = 0;
  [[nodiscard]] virtual Result<void> send_rep(Instant now, CommId id, const RepParameters& rep) = 0;
  [[nodiscard]] virtual Result<void> send_rtu(Instant now, CommId id) = 0;
  [[nodiscard]] virtual Result<void> send_rej(Instant now, CommId id, std::uint8_t reason,
                                              std::span<const std::uint8_t> private_data) = 0;
  /// Sends DREQ. EINVAL unless ESTABLISHED.
  [[nodiscard]] virtual Result<void> send_dreq(Instant now, CommId id) = 0;
  /// Sends DREP. EINVAL unless DREQ_RCVD.
  [[nodiscard]] virtual Result<void> send_drep(Instant now, CommId id) = 0;
  /// Sends SIDR_REQ, which asks for the QP of a datagram service; kSidrRepReceived or kSidrReqError
  /// follows.
  [[nodiscard]] virtual Result<CommId> send_sidr_req(Instant now,
                                                     const SidrReqParameters& request) = 0;
  /// Sends SIDR_REP. EINVAL unless SIDR_REQ_RCVD. A later retransmission of the question counts as
  /// new.
  [[nodiscard]] virtual Result<void> send_sidr_rep(Instant now, CommId id,
                                                   const SidrRepParameters& reply) = 0;
  /// The QP has received data before the RTU came (cm_establish). EISCONN: established already;
  /// EINVAL: wrong state.
  [[nodiscard]] virtual Result<void> notify_established(Instant now, CommId id) = 0;
  /// Ends the id with the message of cm_destroy_id; no upcalls for it afterwards.
  virtual void destroy(Instant now, CommId id) = 0;

  // --- inputs -----------------------------------------------------------------------------------
  /// A MAD arrived on QP1. `path` is seen from us: source is our GID, destination the sender's.
  virtual void on_mad(Instant now, const Path& path,
                      std::span<const std::uint8_t, kMadBytes> mad) = 0;
  virtual void on_timer(Instant now) = 0;
  /// A peer process has ended without a message. The agent acts as if its kernel's messages had
  /// been received, for each connection whose remote comm id matches (id & peer_id_tag_mask) ==
  /// peer_id_tag: DREQ when established, DREP for our DREQ, REJ 28 or 4 during the handshake. A REQ
  /// without an answer names no peer: it is repeated, and another process may answer. `gids`: the
  /// peer's; empty: it is the only one with such ids, whatever its address.
  virtual void on_peer_gone(Instant now, std::uint32_t peer_id_tag, std::uint32_t peer_id_tag_mask,
                            std::span<const Gid> gids) = 0;

  // --- outputs ----------------------------------------------------------------------------------
  /// Returns the oldest action, which pop_action() removes; null: none. Actions are in the order in
  /// which they were generated.
  [[nodiscard]] virtual const Action* next_action() = 0;
  virtual void pop_action() = 0;
  [[nodiscard]] virtual std::optional<Instant> next_deadline() const = 0;

  [[nodiscard]] virtual std::optional<ConnectionInfo> info(CommId id) const = 0;
};

}  // namespace anyrdma::ibcm
