// Faults as data: when, where, what.
#pragma once

#include <rdma/rdma_cma.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "verbs/time.h"

namespace anyrdma::sim {

/// The messages of the CM protocol, with their attribute ids.
enum class CmMessage : std::uint16_t {
  kReq = 0x10,
  kMra = 0x11,
  kRej = 0x12,
  kRep = 0x13,
  kRtu = 0x14,
  kDreq = 0x15,
  kDrep = 0x16,
  kSidrReq = 0x17,
  kSidrRep = 0x18,
};
/// "REQ".
[[nodiscard]] std::string_view to_string(CmMessage message);

/// Every occurrence instead of the n-th.
inline constexpr std::uint32_t kAll = 0;

/// Which of many: the n-th, all, or each with a probability drawn from the world's seed.
struct Occurrence {
  static constexpr std::uint32_t kCertain = 1'000'000;

  // Implicit: OnRequest{"server", 2} reads as it should.
  constexpr Occurrence(std::uint32_t which = 1) : number(which) {}
  /// Each with a probability in millionths, 1 to 999,999.
  [[nodiscard]] static constexpr Occurrence each_with(std::uint32_t millionths) {
    Occurrence occurrence(kAll);
    occurrence.per_million = millionths;
    return occurrence;
  }
  bool operator==(const Occurrence&) const = default;

  std::uint32_t number = 1;  ///< from 1, or kAll
  std::uint32_t per_million = kCertain;
};

// --- when ---------------------------------------------------------------------------------------

/// At a virtual time since the beginning.
struct AtTime {
  verbs::Duration time{};
  bool operator==(const AtTime&) const = default;
};

/// When a host puts its n-th CM message of a kind on the wire to another host. An empty name
/// means any host.
struct OnMessage {
  std::string from;
  std::string to;
  CmMessage message = CmMessage::kReq;
  Occurrence occurrence{};
  bool operator==(const OnMessage&) const = default;
};

/// When a host puts its n-th packet of any kind, CM messages too, on the wire to another host.
struct OnPacket {
  std::string from;
  std::string to;
  Occurrence occurrence{};
  bool operator==(const OnPacket&) const = default;
};

/// When the n-th connection request reaches a listener of a host.
struct OnRequest {
  std::string host;
  Occurrence occurrence{};
  bool operator==(const OnRequest&) const = default;
};

/// When the n-th CM event of a type enters its channel on a host. `id` as the trace numbers it; 0
/// means any.
struct OnQueued {
  std::string host;
  std::uint64_t id = 0;
  rdma_cm_event_type event = RDMA_CM_EVENT_ESTABLISHED;
  Occurrence occurrence{};
  bool operator==(const OnQueued&) const = default;
};

/// When the application is handed the n-th CM event of a type. As OnQueued.
struct OnFetched {
  std::string host;
  std::uint64_t id = 0;
  rdma_cm_event_type event = RDMA_CM_EVENT_ESTABLISHED;
  Occurrence occurrence{};
  bool operator==(const OnFetched&) const = default;
};

/// When the application makes the n-th call of a kind that the id's state allows, successful or
/// not: "connect", "destroy" (see call_names()). `id` as in OnQueued.
struct OnCall {
  std::string host;
  std::uint64_t id = 0;
  std::string call;
  Occurrence occurrence{};
  bool operator==(const OnCall&) const = default;
};

using Trigger = std::variant<AtTime, OnMessage, OnPacket, OnRequest, OnQueued, OnFetched, OnCall>;

// --- what: to a packet (OnMessage, OnPacket) ----------------------------------------------------

/// It does not arrive.
struct LoseMessage {
  bool operator==(const LoseMessage&) const = default;
};

/// It arrives later than the link would have it; what is sent behind it overtakes it.
struct DelayMessage {
  verbs::Duration by{};
  bool operator==(const DelayMessage&) const = default;
};

/// It arrives twice.
struct DuplicateMessage {
  bool operator==(const DuplicateMessage&) const = default;
};

/// One bit of it is flipped on the way, so that the receiver's ICRC check drops it.
struct CorruptMessage {
  bool operator==(const CorruptMessage&) const = default;
};

// --- what: to a connection request (OnRequest) --------------------------------------------------

/// The host's CM answers the request with REJ.
struct RejectRequest {
  std::uint8_t reason = 28;          ///< IBTA's; 28: consumer defined
  std::vector<std::uint8_t> data{};  ///< at most 148 bytes
  bool operator==(const RejectRequest&) const = default;
};

/// The listener's backlog is full: nobody answers, and the sender's next try counts as new.
struct OverflowBacklog {
  bool operator==(const OverflowBacklog&) const = default;
};

// --- what: whenever -----------------------------------------------------------------------------

/// The device is removed, as if unplugged: DEVICE_REMOVAL.
struct RemoveDevice {
  std::string host;
  std::string device;
  bool operator==(const RemoveDevice&) const = default;
};

/// A removed device is plugged in again: the same name, limits and GIDs; its objects are gone.
struct ReturnDevice {
  std::string host;
  std::string device;
  bool new_guid = false;  ///< another card in the slot
  bool operator==(const ReturnDevice&) const = default;
};

/// The bonded interface fails over to another link address: ADDR_CHANGE there, UNREACHABLE at the
/// active ids of its neighbours.
struct ChangeAddress {
  std::string host;
  std::string interface;
  bool operator==(const ChangeAddress&) const = default;
};

/// The device's port loses its link: PORT_ERR, and no packet in.
struct PortDown {
  std::string host;
  std::string device;
  bool operator==(const PortDown&) const = default;
};

/// The device's port is active again: PORT_ACTIVE.
struct PortUp {
  std::string host;
  std::string device;
  bool operator==(const PortUp&) const = default;
};

/// Nothing passes from one host to another, nor do neighbours hear each other there, until
/// MendPath. Empty names mean all the hosts there are then; `both` means both directions.
struct CutPath {
  std::string from;
  std::string to;
  bool both = false;
  bool operator==(const CutPath&) const = default;
};

/// Undoes CutPath and a LinkOptions::down.
struct MendPath {
  std::string from;
  std::string to;
  bool both = false;
  bool operator==(const MendPath&) const = default;
};

/// Sets the latency from one host to another. Names as in CutPath.
struct SlowPath {
  std::string from;
  std::string to;
  bool both = false;
  verbs::Duration latency{};
  bool operator==(const SlowPath&) const = default;
};

using FaultAction = std::variant<LoseMessage, DelayMessage, DuplicateMessage, CorruptMessage,
                                 RejectRequest, OverflowBacklog, RemoveDevice, ReturnDevice,
                                 ChangeAddress, PortDown, PortUp, CutPath, MendPath, SlowPath>;

// --- which goes with which ----------------------------------------------------------------------

/// What an action happens to, and what a trigger has at hand.
enum class Victim : std::uint8_t { kWorld, kPacket, kRequest };

template <class Part>
inline constexpr Victim kVictim = Victim::kWorld;
template <>
inline constexpr Victim kVictim<OnMessage> = Victim::kPacket;
template <>
inline constexpr Victim kVictim<OnPacket> = Victim::kPacket;
template <>
inline constexpr Victim kVictim<LoseMessage> = Victim::kPacket;
template <>
inline constexpr Victim kVictim<DelayMessage> = Victim::kPacket;
template <>
inline constexpr Victim kVictim<DuplicateMessage> = Victim::kPacket;
template <>
inline constexpr Victim kVictim<CorruptMessage> = Victim::kPacket;
template <>
inline constexpr Victim kVictim<OnRequest> = Victim::kRequest;
template <>
inline constexpr Victim kVictim<RejectRequest> = Victim::kRequest;
template <>
inline constexpr Victim kVictim<OverflowBacklog> = Victim::kRequest;

/// Whether the action can follow from the trigger: a packet is lost on a packet, while the world
/// changes whenever.
template <class When, class What>
inline constexpr bool kFits = kVictim<What> == Victim::kWorld || kVictim<What> == kVictim<When>;

struct Fault {
  Trigger trigger;
  FaultAction action;
  bool maybe = false;  ///< a run in which it does not happen is fine
  bool operator==(const Fault&) const = default;
};

/// One line; see fault_plan.h for the grammar.
[[nodiscard]] std::string to_string(const Fault& fault);

}  // namespace anyrdma::sim
