// What happens in every state on every event: the whole CM protocol of a connection as data, to be
// held against fact sheet 7.2 (and 3.3 to 3.5, 7.4), printed in docs/ibcm-states.md.
#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "transport/ibcm/agent.h"

namespace anyrdma::ibcm {

inline constexpr std::size_t kStates = static_cast<std::size_t>(State::kTimewait) + 1;

/// All that can happen to a connection.
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
  kSendReq,  ///< commands from here on
  kRequestTaken,
  kRequestDropped,  ///< the owner has no room
  kSendRep,
  kSendRtu,
  kSendRej,
  kSendDreq,
  kSendDrep,
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
  kBug,     ///< cannot happen: whoever lets it happen aborts
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

// clang-format off
inline constexpr std::array<Row, kStates * kEvents> kStateTable = [] {
  using namespace table;
  return std::array<Row, kStates * kEvents>{{
    // IDLE: fresh, or a handshake that ended; the owner has yet to destroy the id.
    handle(kIdle, kReq, {kReqRcvd}),
    bug(kIdle, kReqDuplicate),
    bug(kIdle, kStale),
    ignore(kIdle, kMra, kWrongState),
    ignore(kIdle, kRep, kWrongState),
    ignore(kIdle, kRtu, kWrongState),
    ignore(kIdle, kRej, kWrongState),
    ignore(kIdle, kDreq, kWrongState),
    ignore(kIdle, kDrep, kWrongState),
    handle(kIdle, kSendReq, {kReqSent}),
    ignore(kIdle, kRequestTaken),
    bug(kIdle, kRequestDropped),
    reject(kIdle, kSendRep, EINVAL),
    reject(kIdle, kSendRtu, EINVAL),
    reject(kIdle, kSendRej, EINVAL),
    reject(kIdle, kSendDreq, EINVAL),
    reject(kIdle, kSendDrep, EINVAL),
    reject(kIdle, kNotify, EINVAL),
    handle(kIdle, kDestroy, {kIdle}),
    bug(kIdle, kRetryTimer),
    bug(kIdle, kTimewaitTimer),
    ignore(kIdle, kPeerGone),
    // LISTEN: listeners are counters in the agent, no connection is ever in this state.
    bug(kListen, kReq),
    bug(kListen, kReqDuplicate),
    bug(kListen, kStale),
    bug(kListen, kMra),
    bug(kListen, kRep),
    bug(kListen, kRtu),
    bug(kListen, kRej),
    bug(kListen, kDreq),
    bug(kListen, kDrep),
    bug(kListen, kSendReq),
    bug(kListen, kRequestTaken),
    bug(kListen, kRequestDropped),
    bug(kListen, kSendRep),
    bug(kListen, kSendRtu),
    bug(kListen, kSendRej),
    bug(kListen, kSendDreq),
    bug(kListen, kSendDrep),
    bug(kListen, kNotify),
    bug(kListen, kDestroy),
    bug(kListen, kRetryTimer),
    bug(kListen, kTimewaitTimer),
    bug(kListen, kPeerGone),
    // REQ_SENT: the peer is not known yet, so nothing that names the peer can find it: no request
    // of the peer's, no RTU, DREQ or DREP.
    bug(kReqSent, kReq),
    bug(kReqSent, kReqDuplicate),
    bug(kReqSent, kStale),
    handle(kReqSent, kMra, {kMraReqRcvd}),
    handle(kReqSent, kRep, {kRepRcvd, kMraRepSent}),
    bug(kReqSent, kRtu),
    handle(kReqSent, kRej, {kIdle, kTimewait}),
    bug(kReqSent, kDreq),
    bug(kReqSent, kDrep),
    bug(kReqSent, kSendReq),
    ignore(kReqSent, kRequestTaken),
    bug(kReqSent, kRequestDropped),
    reject(kReqSent, kSendRep, EINVAL),
    reject(kReqSent, kSendRtu, EINVAL),
    handle(kReqSent, kSendRej, {kIdle}),
    reject(kReqSent, kSendDreq, EINVAL),
    reject(kReqSent, kSendDrep, EINVAL),
    reject(kReqSent, kNotify, EINVAL),
    handle(kReqSent, kDestroy, {kIdle}),
    handle(kReqSent, kRetryTimer, {kReqSent, kIdle}),
    bug(kReqSent, kTimewaitTimer),
    bug(kReqSent, kPeerGone),
    // REQ_RCVD: until the owner has been told of the request. A repetition is dropped (3.4).
    bug(kReqRcvd, kReq),
    ignore(kReqRcvd, kReqDuplicate, kDuplicate),
    ignore(kReqRcvd, kStale),
    ignore(kReqRcvd, kMra, kWrongState),
    ignore(kReqRcvd, kRep, kWrongState),
    ignore(kReqRcvd, kRtu, kWrongState),
    handle(kReqRcvd, kRej, {kIdle, kTimewait}),
    ignore(kReqRcvd, kDreq, kWrongState),
    ignore(kReqRcvd, kDrep, kWrongState),
    bug(kReqRcvd, kSendReq),
    handle(kReqRcvd, kRequestTaken, {kMraReqSent}),
    handle(kReqRcvd, kRequestDropped, {kIdle}),
    handle(kReqRcvd, kSendRep, {kRepSent}),
    reject(kReqRcvd, kSendRtu, EINVAL),
    handle(kReqRcvd, kSendRej, {kIdle}),
    reject(kReqRcvd, kSendDreq, EINVAL),
    reject(kReqRcvd, kSendDrep, EINVAL),
    reject(kReqRcvd, kNotify, EINVAL),
    handle(kReqRcvd, kDestroy, {kIdle}),
    bug(kReqRcvd, kRetryTimer),
    bug(kReqRcvd, kTimewaitTimer),
    handle(kReqRcvd, kPeerGone, {kIdle}),
    // MRA_REQ_SENT: the owner thinks. A repetition is answered by an MRA (3.3).
    bug(kMraReqSent, kReq),
    handle(kMraReqSent, kReqDuplicate, {kMraReqSent}),
    ignore(kMraReqSent, kStale),
    ignore(kMraReqSent, kMra, kWrongState),
    ignore(kMraReqSent, kRep, kWrongState),
    ignore(kMraReqSent, kRtu, kWrongState),
    handle(kMraReqSent, kRej, {kIdle, kTimewait}),
    ignore(kMraReqSent, kDreq, kWrongState),
    ignore(kMraReqSent, kDrep, kWrongState),
    bug(kMraReqSent, kSendReq),
    ignore(kMraReqSent, kRequestTaken),
    bug(kMraReqSent, kRequestDropped),
    handle(kMraReqSent, kSendRep, {kRepSent}),
    reject(kMraReqSent, kSendRtu, EINVAL),
    handle(kMraReqSent, kSendRej, {kIdle}),
    reject(kMraReqSent, kSendDreq, EINVAL),
    reject(kMraReqSent, kSendDrep, EINVAL),
    reject(kMraReqSent, kNotify, EINVAL),
    handle(kMraReqSent, kDestroy, {kIdle}),
    bug(kMraReqSent, kRetryTimer),
    bug(kMraReqSent, kTimewaitTimer),
    handle(kMraReqSent, kPeerGone, {kIdle}),
    // MRA_REQ_RCVD: the peer thinks. Only the first MRA stretches the wait (3.3).
    bug(kMraReqRcvd, kReq),
    bug(kMraReqRcvd, kReqDuplicate),
    bug(kMraReqRcvd, kStale),
    ignore(kMraReqRcvd, kMra, kDuplicate),
    handle(kMraReqRcvd, kRep, {kRepRcvd, kMraRepSent}),
    bug(kMraReqRcvd, kRtu),
    handle(kMraReqRcvd, kRej, {kIdle, kTimewait}),
    bug(kMraReqRcvd, kDreq),
    bug(kMraReqRcvd, kDrep),
    bug(kMraReqRcvd, kSendReq),
    ignore(kMraReqRcvd, kRequestTaken),
    bug(kMraReqRcvd, kRequestDropped),
    reject(kMraReqRcvd, kSendRep, EINVAL),
    reject(kMraReqRcvd, kSendRtu, EINVAL),
    handle(kMraReqRcvd, kSendRej, {kIdle}),
    reject(kMraReqRcvd, kSendDreq, EINVAL),
    reject(kMraReqRcvd, kSendDrep, EINVAL),
    reject(kMraReqRcvd, kNotify, EINVAL),
    handle(kMraReqRcvd, kDestroy, {kIdle}),
    handle(kMraReqRcvd, kRetryTimer, {kMraReqRcvd, kIdle}),
    bug(kMraReqRcvd, kTimewaitTimer),
    handle(kMraReqRcvd, kPeerGone, {kIdle}),
    // REP_SENT: a DREQ may overtake the RTU (3.4).
    bug(kRepSent, kReq),
    ignore(kRepSent, kReqDuplicate, kDuplicate),
    ignore(kRepSent, kStale),
    handle(kRepSent, kMra, {kMraRepRcvd}),
    ignore(kRepSent, kRep, kWrongState),
    handle(kRepSent, kRtu, {kEstablished}),
    handle(kRepSent, kRej, {kIdle, kTimewait}),
    handle(kRepSent, kDreq, {kDreqRcvd}),
    ignore(kRepSent, kDrep, kWrongState),
    bug(kRepSent, kSendReq),
    ignore(kRepSent, kRequestTaken),
    bug(kRepSent, kRequestDropped),
    reject(kRepSent, kSendRep, EINVAL),
    reject(kRepSent, kSendRtu, EINVAL),
    handle(kRepSent, kSendRej, {kTimewait}),
    reject(kRepSent, kSendDreq, EINVAL),
    reject(kRepSent, kSendDrep, EINVAL),
    handle(kRepSent, kNotify, {kEstablished}),
    handle(kRepSent, kDestroy, {kIdle}),
    handle(kRepSent, kRetryTimer, {kRepSent, kIdle}),
    bug(kRepSent, kTimewaitTimer),
    handle(kRepSent, kPeerGone, {kIdle}),
    // REP_RCVD: left for MRA_REP_SENT within the same input (3.3).
    bug(kRepRcvd, kReq),
    bug(kRepRcvd, kReqDuplicate),
    bug(kRepRcvd, kStale),
    bug(kRepRcvd, kMra),
    bug(kRepRcvd, kRep),
    bug(kRepRcvd, kRtu),
    bug(kRepRcvd, kRej),
    bug(kRepRcvd, kDreq),
    bug(kRepRcvd, kDrep),
    bug(kRepRcvd, kSendReq),
    bug(kRepRcvd, kRequestTaken),
    bug(kRepRcvd, kRequestDropped),
    bug(kRepRcvd, kSendRep),
    bug(kRepRcvd, kSendRtu),
    bug(kRepRcvd, kSendRej),
    bug(kRepRcvd, kSendDreq),
    bug(kRepRcvd, kSendDrep),
    bug(kRepRcvd, kNotify),
    bug(kRepRcvd, kDestroy),
    bug(kRepRcvd, kRetryTimer),
    bug(kRepRcvd, kTimewaitTimer),
    bug(kRepRcvd, kPeerGone),
    // MRA_REP_SENT: the owner has the REP and has yet to say ready.
    bug(kMraRepSent, kReq),
    ignore(kMraRepSent, kReqDuplicate, kDuplicate),
    ignore(kMraRepSent, kStale),
    ignore(kMraRepSent, kMra, kWrongState),
    handle(kMraRepSent, kRep, {kMraRepSent}),
    ignore(kMraRepSent, kRtu, kWrongState),
    handle(kMraRepSent, kRej, {kTimewait}),
    ignore(kMraRepSent, kDreq, kWrongState),
    ignore(kMraRepSent, kDrep, kWrongState),
    bug(kMraRepSent, kSendReq),
    ignore(kMraRepSent, kRequestTaken),
    bug(kMraRepSent, kRequestDropped),
    reject(kMraRepSent, kSendRep, EINVAL),
    handle(kMraRepSent, kSendRtu, {kEstablished}),
    handle(kMraRepSent, kSendRej, {kIdle}),
    reject(kMraRepSent, kSendDreq, EINVAL),
    reject(kMraRepSent, kSendDrep, EINVAL),
    reject(kMraRepSent, kNotify, EINVAL),
    handle(kMraRepSent, kDestroy, {kIdle}),
    bug(kMraRepSent, kRetryTimer),
    bug(kMraRepSent, kTimewaitTimer),
    handle(kMraRepSent, kPeerGone, {kTimewait}),
    // MRA_REP_RCVD: the peer has the REP and thinks.
    bug(kMraRepRcvd, kReq),
    ignore(kMraRepRcvd, kReqDuplicate, kDuplicate),
    ignore(kMraRepRcvd, kStale),
    ignore(kMraRepRcvd, kMra, kDuplicate),
    ignore(kMraRepRcvd, kRep, kWrongState),
    handle(kMraRepRcvd, kRtu, {kEstablished}),
    handle(kMraRepRcvd, kRej, {kIdle, kTimewait}),
    handle(kMraRepRcvd, kDreq, {kDreqRcvd}),
    ignore(kMraRepRcvd, kDrep, kWrongState),
    bug(kMraRepRcvd, kSendReq),
    ignore(kMraRepRcvd, kRequestTaken),
    bug(kMraRepRcvd, kRequestDropped),
    reject(kMraRepRcvd, kSendRep, EINVAL),
    reject(kMraRepRcvd, kSendRtu, EINVAL),
    handle(kMraRepRcvd, kSendRej, {kTimewait}),
    reject(kMraRepRcvd, kSendDreq, EINVAL),
    reject(kMraRepRcvd, kSendDrep, EINVAL),
    handle(kMraRepRcvd, kNotify, {kEstablished}),
    handle(kMraRepRcvd, kDestroy, {kIdle}),
    handle(kMraRepRcvd, kRetryTimer, {kMraRepRcvd, kIdle}),
    bug(kMraRepRcvd, kTimewaitTimer),
    handle(kMraRepRcvd, kPeerGone, {kIdle}),
    // ESTABLISHED: a repeated REP means that the RTU was lost.
    bug(kEstablished, kReq),
    ignore(kEstablished, kReqDuplicate, kDuplicate),
    handle(kEstablished, kStale, {kDreqSent}),
    ignore(kEstablished, kMra, kWrongState),
    handle(kEstablished, kRep, {kEstablished}),
    ignore(kEstablished, kRtu, kDuplicate),
    handle(kEstablished, kRej, {kTimewait}),
    handle(kEstablished, kDreq, {kDreqRcvd}),
    ignore(kEstablished, kDrep, kWrongState),
    bug(kEstablished, kSendReq),
    ignore(kEstablished, kRequestTaken),
    bug(kEstablished, kRequestDropped),
    reject(kEstablished, kSendRep, EINVAL),
    reject(kEstablished, kSendRtu, EINVAL),
    reject(kEstablished, kSendRej, EINVAL),
    handle(kEstablished, kSendDreq, {kDreqSent}),
    reject(kEstablished, kSendDrep, EINVAL),
    reject(kEstablished, kNotify, EISCONN),
    handle(kEstablished, kDestroy, {kIdle}),
    bug(kEstablished, kRetryTimer),
    bug(kEstablished, kTimewaitTimer),
    handle(kEstablished, kPeerGone, {kDreqRcvd}),
    // DREQ_SENT: a DREQ that crosses ours wins (3.5).
    bug(kDreqSent, kReq),
    ignore(kDreqSent, kReqDuplicate, kDuplicate),
    ignore(kDreqSent, kStale),
    ignore(kDreqSent, kMra, kWrongState),
    ignore(kDreqSent, kRep, kWrongState),
    ignore(kDreqSent, kRtu, kWrongState),
    handle(kDreqSent, kRej, {kTimewait}),
    handle(kDreqSent, kDreq, {kDreqRcvd}),
    handle(kDreqSent, kDrep, {kTimewait}),
    bug(kDreqSent, kSendReq),
    ignore(kDreqSent, kRequestTaken),
    bug(kDreqSent, kRequestDropped),
    reject(kDreqSent, kSendRep, EINVAL),
    reject(kDreqSent, kSendRtu, EINVAL),
    reject(kDreqSent, kSendRej, EINVAL),
    reject(kDreqSent, kSendDreq, EINVAL),
    reject(kDreqSent, kSendDrep, EINVAL),
    reject(kDreqSent, kNotify, EINVAL),
    handle(kDreqSent, kDestroy, {kIdle}),
    handle(kDreqSent, kRetryTimer, {kDreqSent, kTimewait}),
    bug(kDreqSent, kTimewaitTimer),
    handle(kDreqSent, kPeerGone, {kTimewait}),
    // DREQ_RCVD: the DREP waits for the owner (3.5).
    bug(kDreqRcvd, kReq),
    ignore(kDreqRcvd, kReqDuplicate, kDuplicate),
    ignore(kDreqRcvd, kStale),
    ignore(kDreqRcvd, kMra, kWrongState),
    ignore(kDreqRcvd, kRep, kWrongState),
    ignore(kDreqRcvd, kRtu, kWrongState),
    ignore(kDreqRcvd, kRej, kWrongState),
    ignore(kDreqRcvd, kDreq, kDuplicate),
    handle(kDreqRcvd, kDrep, {kTimewait}),
    bug(kDreqRcvd, kSendReq),
    ignore(kDreqRcvd, kRequestTaken),
    bug(kDreqRcvd, kRequestDropped),
    reject(kDreqRcvd, kSendRep, EINVAL),
    reject(kDreqRcvd, kSendRtu, EINVAL),
    reject(kDreqRcvd, kSendRej, EINVAL),
    reject(kDreqRcvd, kSendDreq, EINVAL),
    handle(kDreqRcvd, kSendDrep, {kTimewait}),
    reject(kDreqRcvd, kNotify, EINVAL),
    handle(kDreqRcvd, kDestroy, {kIdle}),
    bug(kDreqRcvd, kRetryTimer),
    bug(kDreqRcvd, kTimewaitTimer),
    ignore(kDreqRcvd, kPeerGone),
    // TIMEWAIT: a repeated DREQ means that the DREP was lost (3.4).
    bug(kTimewait, kReq),
    bug(kTimewait, kReqDuplicate),
    bug(kTimewait, kStale),
    ignore(kTimewait, kMra, kWrongState),
    ignore(kTimewait, kRep, kWrongState),
    ignore(kTimewait, kRtu, kWrongState),
    ignore(kTimewait, kRej, kWrongState),
    handle(kTimewait, kDreq, {kTimewait}),
    ignore(kTimewait, kDrep, kDuplicate),
    bug(kTimewait, kSendReq),
    ignore(kTimewait, kRequestTaken),
    bug(kTimewait, kRequestDropped),
    reject(kTimewait, kSendRep, EINVAL),
    reject(kTimewait, kSendRtu, EINVAL),
    reject(kTimewait, kSendRej, EINVAL),
    reject(kTimewait, kSendDreq, EINVAL),
    reject(kTimewait, kSendDrep, EINVAL),
    reject(kTimewait, kNotify, EINVAL),
    handle(kTimewait, kDestroy, {kIdle}),
    bug(kTimewait, kRetryTimer),
    handle(kTimewait, kTimewaitTimer, {kIdle}),
    ignore(kTimewait, kPeerGone),
  }};
}();
// clang-format on

[[nodiscard]] constexpr std::size_t cell_index(State state, Event event) {
  return static_cast<std::size_t>(state) * kEvents + static_cast<std::size_t>(event);
}

/// True when every pair of state and event has its row, in order.
[[nodiscard]] constexpr bool is_total(const std::array<Row, kStates * kEvents>& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (cell_index(rows[i].from, rows[i].event) != i) return false;
  return true;
}
static_assert(is_total(kStateTable));

[[nodiscard]] constexpr const Row& row_of(State state, Event event) {
  return kStateTable[cell_index(state, event)];
}

/// What a connection owns in each state; asserted after every input.
struct Resources {
  State state{};
  bool retry_timer = false;  ///< a message of ours waits for its answer
  bool timewait_timer = false;
  bool found_by_peer = false;  ///< listed under the peer's comm id and QPN
};

inline constexpr std::array<Resources, kStates> kResources{{
    {State::kIdle, false, false, false},
    {State::kListen, false, false, false},
    {State::kReqSent, true, false, false},
    {State::kReqRcvd, false, false, true},
    {State::kMraReqSent, false, false, true},
    {State::kMraReqRcvd, true, false, false},
    {State::kRepSent, true, false, true},
    {State::kRepRcvd, false, false, true},
    {State::kMraRepSent, false, false, true},
    {State::kMraRepRcvd, true, false, true},
    {State::kEstablished, false, false, true},
    {State::kDreqSent, true, false, true},
    {State::kDreqRcvd, false, false, true},
    {State::kTimewait, false, true, false},
}};

[[nodiscard]] constexpr bool is_ordered(const std::array<Resources, kStates>& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (static_cast<std::size_t>(rows[i].state) != i) return false;
  return true;
}
static_assert(is_ordered(kResources));

[[nodiscard]] constexpr const Resources& resources_of(State state) {
  return kResources[static_cast<std::size_t>(state)];
}

}  // namespace anyrdma::ibcm
