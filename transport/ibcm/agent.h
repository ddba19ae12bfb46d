// The CM agent of one device. It passes received MADs to connections, creates connections for new
// requests, and finds duplicates and stale connections. It does no I/O: its inputs are MADs,
// commands and time, and its outputs are actions.
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
/// Given only if the owner of the agent says so.
inline constexpr std::uint8_t kRejVendorOption = 35;

/// The results of a service resolution (SIDR) that this agent sends (ib_cm_sidr_status).
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

/// The path between this agent and the peer's QP1: the two GIDs of a RoCE v2 path.
struct Path {
  Gid source{};                  ///< our GID
  Gid destination{};             ///< the peer's GID
  std::uint32_t flow_label = 0;  ///< 20 bits; Linux: source port * 31 + destination port
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 64;
  std::uint8_t mtu = 5;  ///< ibv_mtu

  /// Time exponent, which the owner of the route takes from the profile.
  std::uint8_t packet_lifetime = 18;
  bool operator==(const Path&) const = default;
};

/// Enhanced connection establishment (ECE): options that adapters of one vendor understand. Vendor
/// 0: none.
struct Ece {
  std::uint32_t vendor_id = 0;  ///< 24 bits; in CM messages in fields that were reserved before ECE
  std::uint32_t options = 0;    ///< in the attribute modifier of the MAD
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

/// The parameters of a SIDR_REQ, which asks for the QP of a datagram service.
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

/// The negotiated parameters of a connection, with which the QP is moved to RTR and RTS
/// (cm_init_qp_rtr_attr, cm_init_qp_rts_attr).
struct ConnectionInfo {
  State state = State::kIdle;
  Path path{};
  Qpn remote_qpn{};
  Psn local_psn{};   ///< the PSN that this side announced: its rq_psn
  Psn remote_psn{};  ///< the PSN that the peer announced: this side's sq_psn
  std::uint8_t responder_resources = 0;
  std::uint8_t initiator_depth = 0;
  std::uint8_t retry_count = 7;
  std::uint8_t rnr_retry_count = 7;
  std::uint8_t ack_timeout = 0;  ///< av.timeout exponent for the RTS transition
  std::uint8_t path_mtu = 5;     ///< ibv_mtu
};

/// A MAD that the agent's driver must send from QP1.
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

/// An event for the user of the connection. The spans in it stay valid until the next input of the
/// agent.
struct Upcall {
  UpcallKind kind{};
  CommId id{};             ///< for kReqReceived, kSidrReqReceived: the new connection's id
  ServiceId service_id{};  ///< kReqReceived, kSidrReqReceived

  /// Set for kReqReceived. For kSidrReqReceived only service_id, path and private_data are set.
  ReqParameters req{};
  RepParameters rep{};             ///< kRepReceived
  SidrRepParameters sidr{};        ///< kSidrRepReceived
  std::uint8_t reject_reason = 0;  ///< kRejReceived

  /// Private data of the message, padded to its full length.
  std::span<const std::uint8_t> private_data{};
};

/// The reason why the agent ignored a message, for traces, counters and tests.
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
  /// The agent assigns local comm ids of the form (id & id_mask) | id_tag. So several processes on
  /// one host can find the process of a reply by its id.
  std::uint32_t id_mask = 0xffffffff;
  std::uint32_t id_tag = 0;
};

/// The interface of the CM agent. Not thread-safe: use it inside the critical section of its owner
/// (verbs::Runtime::enter). Errors of commands: EINVAL if the connection's state does not allow the
/// command or data is too long; ENOMEM if no comm id is left.
class Agent {
 public:
  /// Creates an agent. The driver of `runtime` is called when there are actions to take. If
  /// `runtime` is null, the owner calls next_action() by itself. `runtime` and `random` must
  /// outlive the agent.
  [[nodiscard]] static std::unique_ptr<Agent> create(const AgentConfig& config,
                                                     verbs::Random& random,
                                                     verbs::Runtime* runtime = nullptr);
  virtual ~Agent() = default;

  // --- listeners -------------------------------------------------------------------------------

  // Without a listener for its service id, a REQ is answered with REJ, reason 8, and a SIDR_REQ
  // with status 1.
  virtual void listen(ServiceId service) = 0;  ///< Calls are counted: call unlisten as often.
  virtual void unlisten(ServiceId service) = 0;

  // --- commands ---------------------------------------------------------------------------------

  /// Sends a REQ on a new connection and returns the connection's id. EINVAL: also if the path's
  /// MTU, its lifetime (at most 30) or the transport service cannot be put into a REQ.
  [[nodiscard]] virtual Result<CommId> connect(Instant now, const ReqParameters& req) = 0;
  /// Call after kReqReceived was handled. `taken` true: the connection goes from REQ_RCVD to
  /// MRA_REQ_SENT. False (no memory, backlog full): the connection is dropped without an answer.
  /// After kSidrReqReceived, true has no effect, and false rejects the request, because its sender
  /// does not repeat it.
  virtual void request_handled(CommId id, bool taken) = 0;
  /// Call between kReqReceived and the answer. Sends the peer an MRA at once, with this time
  /// exponent of five bits. (Linux sends an MRA only for a repeated request.) No effect for an id
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
  /// Sends a SIDR_REQ, which asks for the QP of a datagram service. kSidrRepReceived or
  /// kSidrReqError follows.
  [[nodiscard]] virtual Result<CommId> send_sidr_req(Instant now,
                                                     const SidrReqParameters& request) = 0;
  /// Sends a SIDR_REP. EINVAL unless the state is SIDR_REQ_RCVD. If the SIDR_REQ is retransmitted
  /// later, it counts as a new one.
  [[nodiscard]] virtual Result<void> send_sidr_rep(Instant now, CommId id,
                                                   const SidrRepParameters& reply) = 0;
  /// Call when the QP has received data before the RTU came (cm_establish). EISCONN: established
  /// already; EINVAL: wrong state.
  [[nodiscard]] virtual Result<void> notify_established(Instant now, CommId id) = 0;
  /// Ends the id, with the message that cm_destroy_id sends. No upcalls for the id follow.
  virtual void destroy(Instant now, CommId id) = 0;

  // --- inputs -----------------------------------------------------------------------------------

  /// Call when a MAD has arrived on QP1. `path` is seen from this side: its source is this side's
  /// GID, its destination the sender's.
  virtual void on_mad(Instant now, const Path& path,
                      std::span<const std::uint8_t, kMadBytes> mad) = 0;
  virtual void on_timer(Instant now) = 0;
  /// Call when a peer process has ended without a message. A connection is concerned if its remote
  /// comm id matches (id & peer_id_tag_mask) == peer_id_tag. The agent acts as if the peer's kernel
  /// had sent DREQ (established), DREP (after this side's DREQ), or REJ 28 or 4 (handshake). A REQ
  /// without an answer names no peer, so it is repeated, and another process may answer. `gids` are
  /// the peer's GIDs. Empty: no other process has such ids, whatever its address.
  virtual void on_peer_gone(Instant now, std::uint32_t peer_id_tag, std::uint32_t peer_id_tag_mask,
                            std::span<const Gid> gids) = 0;

  // --- outputs ----------------------------------------------------------------------------------

  /// Returns the oldest action that was not taken; null: none. pop_action() removes it. Actions are
  /// in the order in which they were generated.
  [[nodiscard]] virtual const Action* next_action() = 0;
  virtual void pop_action() = 0;
  [[nodiscard]] virtual std::optional<Instant> next_deadline() const = 0;

  [[nodiscard]] virtual std::optional<ConnectionInfo> info(CommId id) const = 0;
};

}  // namespace anyrdma::ibcm
