// Faults as data: when, where, what.
#pragma once

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
  std::uint32_t occurrence = 1;  ///< from 1, or kAll
  bool operator==(const OnMessage&) const = default;
};

/// When the n-th connection request reaches a listener of a host.
struct OnRequest {
  std::string host;
  std::uint32_t occurrence = 1;  ///< from 1, or kAll
  bool operator==(const OnRequest&) const = default;
};

using Trigger = std::variant<AtTime, OnMessage, OnRequest>;

// --- what ---------------------------------------------------------------------------------------

/// The host's CM answers the request with REJ. Needs OnRequest.
struct RejectRequest {
  std::uint8_t reason = 28;          ///< IBTA's; 28: consumer defined
  std::vector<std::uint8_t> data{};  ///< at most 148 bytes
  bool operator==(const RejectRequest&) const = default;
};

/// The message does not arrive. Needs OnMessage.
struct LoseMessage {
  bool operator==(const LoseMessage&) const = default;
};

/// The device is removed, as if unplugged: DEVICE_REMOVAL.
struct RemoveDevice {
  std::string host;
  std::string device;
  bool operator==(const RemoveDevice&) const = default;
};

/// The bonded interface fails over to another link address: ADDR_CHANGE there, UNREACHABLE at the
/// active ids of its neighbours.
struct ChangeAddress {
  std::string host;
  std::string interface;
  bool operator==(const ChangeAddress&) const = default;
};

using FaultAction = std::variant<RejectRequest, LoseMessage, RemoveDevice, ChangeAddress>;

struct Fault {
  Trigger trigger;
  FaultAction action;
  bool operator==(const Fault&) const = default;
};

/// One line; see fault_plan.h for the grammar.
[[nodiscard]] std::string to_string(const Fault& fault);

}  // namespace anyrdma::sim
