// The types of the state table: events, and what a cell can say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "transport/ibcm/agent.h"

namespace anyrdma::ibcm {

inline constexpr std::size_t kStates = static_cast<std::size_t>(State::kSidrReqRcvd) + 1;

/// The events of a connection.
enum class Event : std::uint8_t {
  kReq,           ///< a REQ made this connection
  kReqDuplicate,  ///< its REQ again: same comm id, same CA
  kStale,         ///< the peer uses its QPN for another connection
  kMra,
  kRep,
  kRtu,
  kRej,
  kDreq,
  kDrep,
  kSidrReq,           ///< a SIDR_REQ made this connection
  kSidrReqDuplicate,  ///< its SIDR_REQ again: same request id, same sender
  kSidrRep,
  kSendReq,  ///< commands from here on
  kRequestTaken,
  kRequestDropped,  ///< the owner has no room
  kSendRep,
  kSendRtu,
  kSendRej,
  kSendDreq,
  kSendDrep,
  kSendSidrReq,
  kSendSidrRep,
  kNotify,
  kDestroy,
  kRetryTimer,  ///< no answer in time
  kTimewaitTimer,
  kPeerGone,  ///< the peer process is gone without a word
};
inline constexpr std::size_t kEvents = static_cast<std::size_t>(Event::kPeerGone) + 1;

enum class Verdict : std::uint8_t {
  kHandle,  ///< a cell of the machine acts, and may move to the states of `next`
  kIgnore,  ///< nothing happens; for a message, `drop` says why
  kReject,  ///< the caller's command fails with `error`
  kBug,     ///< cannot happen: aborts
};

/// One cell of the table.
struct Row {
  State from{};
  Event event{};
  Verdict verdict{};
  std::uint32_t next = 0;  ///< bit n: may move to state n
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
