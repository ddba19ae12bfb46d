// The types of the connection's state table: events, and the cells of the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "transport/ibcm/agent.h"

namespace anyrdma::ibcm {

inline constexpr std::size_t kStates = static_cast<std::size_t>(State::kSidrReqRcvd) + 1;

/// The events that the state machine of a connection handles.
enum class Event : std::uint8_t {
  kReq,           ///< a REQ for which this connection was created
  kReqDuplicate,  ///< the connection's REQ was repeated: same comm id, same CA
  kStale,         ///< the peer uses the QPN of this connection for another one
  kMra,
  kRep,
  kRtu,
  kRej,
  kDreq,
  kDrep,
  kSidrReq,           ///< a SIDR_REQ for which this connection was created
  kSidrReqDuplicate,  ///< the connection's SIDR_REQ was repeated: same request id, same sender
  kSidrRep,
  kSendReq,  ///< this event and those below are commands
  kRequestTaken,
  kRequestDropped,  ///< the agent's owner has no room for the request
  kSendRep,
  kSendRtu,
  kSendRej,
  kSendDreq,
  kSendDrep,
  kSendSidrReq,
  kSendSidrRep,
  kNotify,
  kDestroy,
  kRetryTimer,  ///< no answer came in time
  kTimewaitTimer,
  kPeerGone,  ///< the peer process has ended without a message
};
inline constexpr std::size_t kEvents = static_cast<std::size_t>(Event::kPeerGone) + 1;

enum class Verdict : std::uint8_t {
  kHandle,  ///< a function of the state machine acts, and may change to the states in `next`
  kIgnore,  ///< nothing happens; for a message, `drop` says why
  kReject,  ///< a command fails with `error`
  kBug,     ///< cannot happen: aborts
};

/// One cell of the state table: what an event does in a state.
struct Row {
  State from{};
  Event event{};
  Verdict verdict{};
  std::uint32_t next = 0;  ///< bit n: the state may change to state n
  std::optional<DropReason> drop;
  int error = 0;

  [[nodiscard]] constexpr bool may_reach(State state) const {
    return (next >> static_cast<unsigned>(state) & 1u) != 0;
  }
};

namespace table {

using enum State;
using enum Event;
using enum DropReason;

[[nodiscard]] constexpr Row handle(State from, Event event, std::initializer_list<State> next) {
  Row row{from, event, Verdict::kHandle, 0, std::nullopt, 0};
  for (const State state : next) row.next |= 1u << static_cast<unsigned>(state);
  return row;
}
[[nodiscard]] constexpr Row ignore(State from, Event event,
                                   std::optional<DropReason> reason = std::nullopt) {
  return {from, event, Verdict::kIgnore, 0, reason, 0};
}
[[nodiscard]] constexpr Row reject(State from, Event event, int error) {
  return {from, event, Verdict::kReject, 0, std::nullopt, error};
}
[[nodiscard]] constexpr Row bug(State from, Event event) {
  return {from, event, Verdict::kBug, 0, std::nullopt, 0};
}

}  // namespace table

}  // namespace anyrdma::ibcm
