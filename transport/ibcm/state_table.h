// The state table of a connection: what each event does in each state, for the whole CM
// protocol (IBTA vol 1, 12.9.7 and 12.11; the kernel's cm.c). docs/ibcm-states.md shows the table.
#pragma once

#include <array>
#include <cerrno>
#include <cstddef>

#include "transport/ibcm/state_row.h"

namespace anyrdma::ibcm {

// clang-format off
/// What an event does in a state for which kExceptions has no row: messages are dropped, commands
/// are refused, and other events abort as bugs. The rows are in the order of events; `from` is
/// unused.
inline constexpr std::array<Row, kEvents> kDefaults = [] {
  using namespace table;
  return std::array<Row, kEvents>{{
    bug(kIdle, kReq),
    bug(kIdle, kReqDuplicate),
    bug(kIdle, kStale),
    ignore(kIdle, kMra, kWrongState),
    ignore(kIdle, kRep, kWrongState),
    ignore(kIdle, kRtu, kWrongState),
    ignore(kIdle, kRej, kWrongState),
    ignore(kIdle, kDreq, kWrongState),
    ignore(kIdle, kDrep, kWrongState),
    bug(kIdle, kSidrReq),
    bug(kIdle, kSidrReqDuplicate),
    ignore(kIdle, kSidrRep, kWrongState),
    bug(kIdle, kSendReq),
    ignore(kIdle, kRequestTaken),
    bug(kIdle, kRequestDropped),
    reject(kIdle, kSendRep, EINVAL),
    reject(kIdle, kSendRtu, EINVAL),
    reject(kIdle, kSendRej, EINVAL),
    reject(kIdle, kSendDreq, EINVAL),
    reject(kIdle, kSendDrep, EINVAL),
    bug(kIdle, kSendSidrReq),
    reject(kIdle, kSendSidrRep, EINVAL),
    reject(kIdle, kNotify, EINVAL),
    bug(kIdle, kDestroy),
    bug(kIdle, kRetryTimer),
    bug(kIdle, kTimewaitTimer),
    ignore(kIdle, kPeerGone),
  }};
}();

inline constexpr auto kExceptions = [] {
  using namespace table;
  return std::to_array<Row>({
    // IDLE: the connection is new, or its handshake has ended and the owner has not destroyed the
    // id.
    handle(kIdle, kReq, {kReqRcvd}),
    handle(kIdle, kSidrReq, {kSidrReqRcvd}),
    handle(kIdle, kSendReq, {kReqSent}),
    handle(kIdle, kSendSidrReq, {kSidrReqSent}),
    handle(kIdle, kDestroy, {kIdle}),
    // REQ_SENT: the peer's ids are not known yet, so no message that names the peer can find this
    // connection. So no request of the peer's, RTU, DREQ or DREP comes here.
    handle(kReqSent, kMra, {kMraReqRcvd}),
    handle(kReqSent, kRep, {kRepRcvd, kMraRepSent}),
    bug(kReqSent, kRtu),
    handle(kReqSent, kRej, {kIdle, kTimewait}),
    bug(kReqSent, kDreq),
    bug(kReqSent, kDrep),
    handle(kReqSent, kSendRej, {kIdle}),
    handle(kReqSent, kDestroy, {kIdle}),
    handle(kReqSent, kRetryTimer, {kReqSent, kIdle}),
    bug(kReqSent, kPeerGone),
    // REQ_RCVD: the owner has not been told of the request yet. A repeated REQ is dropped.
    ignore(kReqRcvd, kReqDuplicate, kDuplicate),
    ignore(kReqRcvd, kStale),
    handle(kReqRcvd, kRej, {kIdle, kTimewait}),
    handle(kReqRcvd, kRequestTaken, {kMraReqSent}),
    handle(kReqRcvd, kRequestDropped, {kIdle}),
    handle(kReqRcvd, kSendRep, {kRepSent}),
    handle(kReqRcvd, kSendRej, {kIdle}),
    handle(kReqRcvd, kDestroy, {kIdle}),
    handle(kReqRcvd, kPeerGone, {kIdle}),
    // MRA_REQ_SENT: the owner has the request and has not answered. A repeated REQ is answered by
    // an MRA.
    handle(kMraReqSent, kReqDuplicate, {kMraReqSent}),
    ignore(kMraReqSent, kStale),
    handle(kMraReqSent, kRej, {kIdle, kTimewait}),
    handle(kMraReqSent, kSendRep, {kRepSent}),
    handle(kMraReqSent, kSendRej, {kIdle}),
    handle(kMraReqSent, kDestroy, {kIdle}),
    handle(kMraReqSent, kPeerGone, {kIdle}),
    // MRA_REQ_RCVD: the peer needs more time for its answer. Only its first MRA makes the wait
    // longer.
    ignore(kMraReqRcvd, kMra, kDuplicate),
    handle(kMraReqRcvd, kRep, {kRepRcvd, kMraRepSent}),
    bug(kMraReqRcvd, kRtu),
    handle(kMraReqRcvd, kRej, {kIdle, kTimewait}),
    bug(kMraReqRcvd, kDreq),
    bug(kMraReqRcvd, kDrep),
    handle(kMraReqRcvd, kSendRej, {kIdle}),
    handle(kMraReqRcvd, kDestroy, {kIdle}),
    handle(kMraReqRcvd, kRetryTimer, {kMraReqRcvd, kIdle}),
    handle(kMraReqRcvd, kPeerGone, {kIdle}),
    // REP_SENT: a DREQ may arrive before the RTU that was sent before it.
    ignore(kRepSent, kReqDuplicate, kDuplicate),
    ignore(kRepSent, kStale),
    handle(kRepSent, kMra, {kMraRepRcvd}),
    handle(kRepSent, kRtu, {kEstablished}),
    handle(kRepSent, kRej, {kIdle, kTimewait}),
    handle(kRepSent, kDreq, {kDreqRcvd}),
    handle(kRepSent, kSendRej, {kTimewait}),
    handle(kRepSent, kNotify, {kEstablished}),
    handle(kRepSent, kDestroy, {kIdle}),
    handle(kRepSent, kRetryTimer, {kRepSent, kIdle}),
    handle(kRepSent, kPeerGone, {kIdle}),
    // MRA_REP_SENT: the owner has the REP and has not yet sent the RTU.
    ignore(kMraRepSent, kReqDuplicate, kDuplicate),
    ignore(kMraRepSent, kStale),
    handle(kMraRepSent, kRep, {kMraRepSent}),
    handle(kMraRepSent, kRej, {kTimewait}),
    handle(kMraRepSent, kSendRtu, {kEstablished}),
    handle(kMraRepSent, kSendRej, {kIdle}),
    handle(kMraRepSent, kDestroy, {kIdle}),
    handle(kMraRepSent, kPeerGone, {kTimewait}),
    // MRA_REP_RCVD: the peer has the REP and needs more time.
    ignore(kMraRepRcvd, kReqDuplicate, kDuplicate),
    ignore(kMraRepRcvd, kStale),
    ignore(kMraRepRcvd, kMra, kDuplicate),
    handle(kMraRepRcvd, kRtu, {kEstablished}),
    handle(kMraRepRcvd, kRej, {kIdle, kTimewait}),
    handle(kMraRepRcvd, kDreq, {kDreqRcvd}),
    handle(kMraRepRcvd, kSendRej, {kTimewait}),
    handle(kMraRepRcvd, kNotify, {kEstablished}),
    handle(kMraRepRcvd, kDestroy, {kIdle}),
    handle(kMraRepRcvd, kRetryTimer, {kMraRepRcvd, kIdle}),
    handle(kMraRepRcvd, kPeerGone, {kIdle}),
    // ESTABLISHED: a repeated REP means that the RTU was lost.
    ignore(kEstablished, kReqDuplicate, kDuplicate),
    handle(kEstablished, kStale, {kDreqSent}),
    handle(kEstablished, kRep, {kEstablished}),
    ignore(kEstablished, kRtu, kDuplicate),
    handle(kEstablished, kRej, {kTimewait}),
    handle(kEstablished, kDreq, {kDreqRcvd}),
    handle(kEstablished, kSendDreq, {kDreqSent}),
    reject(kEstablished, kNotify, EISCONN),
    handle(kEstablished, kDestroy, {kIdle}),
    handle(kEstablished, kPeerGone, {kDreqRcvd}),
    // DREQ_SENT: if both sides send a DREQ at the same time, the received one decides.
    ignore(kDreqSent, kReqDuplicate, kDuplicate),
    ignore(kDreqSent, kStale),
    handle(kDreqSent, kRej, {kTimewait}),
    handle(kDreqSent, kDreq, {kDreqRcvd}),
    handle(kDreqSent, kDrep, {kTimewait}),
    handle(kDreqSent, kDestroy, {kIdle}),
    handle(kDreqSent, kRetryTimer, {kDreqSent, kTimewait}),
    handle(kDreqSent, kPeerGone, {kTimewait}),
    // DREQ_RCVD: the owner has not yet sent the DREP.
    ignore(kDreqRcvd, kReqDuplicate, kDuplicate),
    ignore(kDreqRcvd, kStale),
    ignore(kDreqRcvd, kDreq, kDuplicate),
    handle(kDreqRcvd, kDrep, {kTimewait}),
    handle(kDreqRcvd, kSendDrep, {kTimewait}),
    handle(kDreqRcvd, kDestroy, {kIdle}),
    // TIMEWAIT: a repeated DREQ means that the DREP was lost.
    handle(kTimewait, kDreq, {kTimewait}),
    ignore(kTimewait, kDrep, kDuplicate),
    handle(kTimewait, kDestroy, {kIdle}),
    handle(kTimewait, kTimewaitTimer, {kIdle}),
    // SIDR_REQ_SENT: no message that names the peer can find this connection, as in REQ_SENT.
    bug(kSidrReqSent, kRtu),
    bug(kSidrReqSent, kDreq),
    bug(kSidrReqSent, kDrep),
    handle(kSidrReqSent, kSidrRep, {kIdle}),
    handle(kSidrReqSent, kDestroy, {kIdle}),
    handle(kSidrReqSent, kRetryTimer, {kSidrReqSent, kIdle}),
    bug(kSidrReqSent, kPeerGone),
    // SIDR_REQ_RCVD: the owner has not answered. No MRA exists for it, so a repeated SIDR_REQ is
    // dropped. The ids belong to no connection, but a peer may send messages that name them.
    ignore(kSidrReqRcvd, kSidrReqDuplicate, kDuplicate),
    handle(kSidrReqRcvd, kRequestDropped, {kIdle}),
    handle(kSidrReqRcvd, kSendSidrRep, {kIdle}),
    handle(kSidrReqRcvd, kDestroy, {kIdle}),
  });
}();
// clang-format on

[[nodiscard]] constexpr std::size_t cell_index(State state, Event event) {
  return static_cast<std::size_t>(state) * kEvents + static_cast<std::size_t>(event);
}

/// Whether no input finds a connection in this state. Listeners are counters in the agent, and
/// REP_RCVD changes to MRA_REP_SENT within the same input.
[[nodiscard]] constexpr bool is_passing(State state) {
  return state == State::kListen || state == State::kRepRcvd;
}

[[nodiscard]] constexpr bool are_exceptions_in_order() {
  for (std::size_t i = 1; i < kExceptions.size(); ++i) {
    const Row& before = kExceptions[i - 1];
    const Row& row = kExceptions[i];
    if (cell_index(before.from, before.event) >= cell_index(row.from, row.event)) return false;
  }
  for (const Row& row : kExceptions) {
    if (is_passing(row.from)) return false;
  }
  return true;
}
static_assert(are_exceptions_in_order(), "each cell once, by state and event");

inline constexpr std::array<Row, kStates* kEvents> kStateTable = [] {
  std::array<Row, kStates * kEvents> rows{};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto state = static_cast<State>(i / kEvents);
    const auto event = static_cast<Event>(i % kEvents);
    rows[i] = is_passing(state) ? table::bug(state, event) : kDefaults[i % kEvents];
    rows[i].from = state;
  }
  for (const Row& row : kExceptions) rows[cell_index(row.from, row.event)] = row;
  return rows;
}();

/// Whether each row of `defaults` is at the index of its event.
[[nodiscard]] constexpr bool is_in_order(const std::array<Row, kEvents>& defaults) {
  for (std::size_t i = 0; i < defaults.size(); ++i)
    if (static_cast<std::size_t>(defaults[i].event) != i) return false;
  return true;
}
static_assert(is_in_order(kDefaults));

[[nodiscard]] constexpr const Row& row_of(State state, Event event) {
  return kStateTable[cell_index(state, event)];
}

/// The resources that a connection has in each state. Assertions check them after every input.
struct Resources {
  State state{};
  bool retry_timer = false;  ///< a message of this side waits for its answer
  bool timewait_timer = false;
  bool found_by_peer = false;     ///< listed under the peer's comm id and QPN
  bool found_by_request = false;  ///< listed under the request id and its sender
};

inline constexpr std::array<Resources, kStates> kResources{{
    {State::kIdle, false, false, false, false},
    {State::kListen, false, false, false, false},
    {State::kReqSent, true, false, false, false},
    {State::kReqRcvd, false, false, true, false},
    {State::kMraReqSent, false, false, true, false},
    {State::kMraReqRcvd, true, false, false, false},
    {State::kRepSent, true, false, true, false},
    {State::kRepRcvd, false, false, true, false},
    {State::kMraRepSent, false, false, true, false},
    {State::kMraRepRcvd, true, false, true, false},
    {State::kEstablished, false, false, true, false},
    {State::kDreqSent, true, false, true, false},
    {State::kDreqRcvd, false, false, true, false},
    {State::kTimewait, false, true, false, false},
    {State::kSidrReqSent, true, false, false, false},
    {State::kSidrReqRcvd, false, false, false, true},
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
