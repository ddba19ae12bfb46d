#include "transport/ibcm/machine.h"

#include <array>
#include <utility>

#include "transport/ibcm/wire/mad_header.h"
#include "verbs/assert.h"

namespace anyrdma::ibcm {

// Which function handles which cell; the compiler holds it against the verdicts.
struct Cells {
  using Cell = Machine::Cell;
  /// `handled` beside the pointers, because g++'s UBSan has no constant comparison of those.
  struct Grid {
    std::array<Cell, kStates * kEvents> cells{};
    std::array<bool, kStates * kEvents> handled{};
  };

  static constexpr void set(Grid& grid, std::initializer_list<State> states, Event event,
                            Cell cell) {
    for (const State state : states) {
      grid.cells[cell_index(state, event)] = cell;
      grid.handled[cell_index(state, event)] = true;
    }
  }
  static constexpr void set_messages(Grid& grid);
  static constexpr void set_commands(Grid& grid);
  static constexpr void set_rest(Grid& grid);
  static constexpr Grid all() {
    Grid grid{};
    set_messages(grid);
    set_commands(grid);
    set_rest(grid);
    return grid;
  }
  static constexpr bool match_the_verdicts(const Grid& grid) {
    for (std::size_t i = 0; i < grid.handled.size(); ++i)
      if (grid.handled[i] != (kStateTable[i].verdict == Verdict::kHandle)) return false;
    return true;
  }
};

// clang-format off
constexpr void Cells::set_messages(Grid& grid) {
  using enum State;
  using enum Event;
  using M = Machine;
  set(grid, {kIdle}, kReq, &M::req_in_idle);
  set(grid, {kMraReqSent}, kReqDuplicate, &M::req_again_in_mra_req_sent);
  set(grid, {kEstablished}, kStale, &M::send_dreq);
  set(grid, {kReqSent}, kMra, &M::mra_in_req_sent);
  set(grid, {kRepSent}, kMra, &M::mra_in_rep_sent);
  set(grid, {kReqSent, kMraReqRcvd}, kRep, &M::rep_awaited);
  set(grid, {kMraRepSent}, kRep, &M::rep_in_mra_rep_sent);
  set(grid, {kEstablished}, kRep, &M::rep_in_established);
  set(grid, {kRepSent, kMraRepRcvd}, kRtu, &M::rtu_awaited);
  set(grid, {kReqSent, kMraReqRcvd, kReqRcvd, kMraReqSent, kRepSent, kMraRepRcvd}, kRej,
      &M::rej_in_handshake);
  set(grid, {kMraRepSent, kEstablished, kDreqSent}, kRej, &M::rej_after_rep);
  set(grid, {kRepSent, kMraRepRcvd, kEstablished, kDreqSent}, kDreq, &M::dreq_in_connection);
  set(grid, {kTimewait}, kDreq, &M::dreq_in_timewait);
  set(grid, {kDreqSent, kDreqRcvd}, kDrep, &M::drep_awaited);
  set(grid, {kIdle}, kSidrReq, &M::sidr_req_in_idle);
  set(grid, {kSidrReqSent}, kSidrRep, &M::sidr_rep_awaited);
}

constexpr void Cells::set_commands(Grid& grid) {
  using enum State;
  using enum Event;
  using M = Machine;
  set(grid, {kIdle}, kSendReq, &M::send_req_in_idle);
  set(grid, {kReqRcvd}, kRequestTaken, &M::request_taken);
  set(grid, {kReqRcvd}, kRequestDropped, &M::request_dropped);
  set(grid, {kReqRcvd, kMraReqSent}, kSendRep, &M::send_rep);
  set(grid, {kMraRepSent}, kSendRtu, &M::send_rtu);
  set(grid, {kReqSent, kMraReqRcvd, kReqRcvd, kMraReqSent, kMraRepSent}, kSendRej,
      &M::send_rej_in_handshake);
  set(grid, {kRepSent, kMraRepRcvd}, kSendRej, &M::send_rej_after_rep);
  set(grid, {kEstablished}, kSendDreq, &M::send_dreq);
  set(grid, {kDreqRcvd}, kSendDrep, &M::send_drep);
  set(grid, {kIdle}, kSendSidrReq, &M::send_sidr_req_in_idle);
  set(grid, {kSidrReqRcvd}, kSendSidrRep, &M::send_sidr_rep);
  set(grid, {kSidrReqRcvd}, kRequestDropped, &M::reject_sidr_req);
  set(grid, {kRepSent, kMraRepRcvd}, kNotify, &M::notify_rtu_awaited);
}

constexpr void Cells::set_rest(Grid& grid) {
  using enum State;
  using enum Event;
  using M = Machine;
  set(grid, {kIdle, kDreqSent, kTimewait, kSidrReqSent}, kDestroy, &M::destroy_quietly);
  set(grid, {kSidrReqRcvd}, kDestroy, &M::reject_sidr_req);
  set(grid, {kReqSent, kMraReqRcvd}, kDestroy, &M::destroy_unanswered);
  set(grid, {kReqRcvd, kMraReqSent, kRepSent, kMraRepSent, kMraRepRcvd}, kDestroy,
      &M::destroy_in_handshake);
  set(grid, {kEstablished}, kDestroy, &M::destroy_in_established);
  set(grid, {kDreqRcvd}, kDestroy, &M::destroy_in_dreq_rcvd);
  set(grid, {kReqSent, kMraReqRcvd}, kRetryTimer, &M::retry_req);
  set(grid, {kRepSent, kMraRepRcvd}, kRetryTimer, &M::retry_rep);
  set(grid, {kDreqSent}, kRetryTimer, &M::retry_dreq);
  set(grid, {kSidrReqSent}, kRetryTimer, &M::retry_sidr_req);
  set(grid, {kTimewait}, kTimewaitTimer, &M::timewait_over);
  set(grid, {kReqRcvd, kMraReqSent}, kPeerGone, &M::peer_gone_before_our_answer);
  set(grid, {kMraReqRcvd, kRepSent, kMraRepRcvd}, kPeerGone, &M::peer_gone_in_handshake);
  set(grid, {kMraRepSent}, kPeerGone, &M::peer_gone_after_rep);
  set(grid, {kEstablished}, kPeerGone, &M::peer_gone_in_established);
  set(grid, {kDreqSent}, kPeerGone, &M::peer_gone_in_dreq_sent);
}
// clang-format on

namespace {

/// The attribute id of the message that an event is, for the report of a dropped one.
std::uint16_t attribute_of(Event event) {
  switch (event) {
    case Event::kReq:
    case Event::kReqDuplicate:
      return static_cast<std::uint16_t>(wire::Attribute::kReq);
    case Event::kMra:
      return static_cast<std::uint16_t>(wire::Attribute::kMra);
    case Event::kRep:
      return static_cast<std::uint16_t>(wire::Attribute::kRep);
    case Event::kRtu:
      return static_cast<std::uint16_t>(wire::Attribute::kRtu);
    case Event::kRej:
      return static_cast<std::uint16_t>(wire::Attribute::kRej);
    case Event::kDreq:
      return static_cast<std::uint16_t>(wire::Attribute::kDreq);
    case Event::kDrep:
      return static_cast<std::uint16_t>(wire::Attribute::kDrep);
    case Event::kSidrReq:
    case Event::kSidrReqDuplicate:
      return static_cast<std::uint16_t>(wire::Attribute::kSidrReq);
    case Event::kSidrRep:
      return static_cast<std::uint16_t>(wire::Attribute::kSidrRep);
    case Event::kStale:
    case Event::kSendReq:
    case Event::kRequestTaken:
    case Event::kRequestDropped:
    case Event::kSendRep:
    case Event::kSendRtu:
    case Event::kSendRej:
    case Event::kSendDreq:
    case Event::kSendDrep:
    case Event::kSendSidrReq:
    case Event::kSendSidrRep:
    case Event::kNotify:
    case Event::kDestroy:
    case Event::kRetryTimer:
    case Event::kTimewaitTimer:
    case Event::kPeerGone:
      return 0;
  }
  return 0;
}

}  // namespace

Result<void> Machine::handle(Connection& connection, Event event, const Input& input) {
  static constexpr Cells::Grid kCells = Cells::all();
  static_assert(Cells::match_the_verdicts(kCells));
  const Row& row = row_of(connection.state, event);
  CM_ASSERT(row.verdict != Verdict::kBug);
  if (row.verdict == Verdict::kReject) return verbs::errno_code(row.error);
  if (row.verdict == Verdict::kIgnore) {
    if (row.drop) outbox_.drop(*row.drop, attribute_of(event));
    return {};
  }
  const Row* const outer = std::exchange(row_, &row);
  (this->*kCells.cells[cell_index(connection.state, event)])(connection, input);
  row_ = outer;
  if (connection.local_id != CommId{}) check_resources(connection);
  return {};
}

void Machine::transition(Connection& c, State to, Instant now) {
  CM_ASSERT(row_->may_reach(to));
  const Resources& owned = resources_of(to);
  if (!owned.retry_timer && c.pending != nullptr) stop_repeating(c);
  if (!owned.timewait_timer) timers_.cancel(c.timewait);
  if (!owned.found_by_peer && c.listed_by_peer) registry_.unlist_by_peer(c);
  if (!owned.found_by_request && c.listed_by_request) registry_.unlist_by_request(c);
  if (owned.timewait_timer) {
    const Duration wait = from_exponent(c.ack_timeout);
    timers_.arm(c.timewait, now + timer_wait(config_.profile, wait, WaitStart::kAnyTime));
    outbox_.call_driver();
  }
  c.state = to;
}

void Machine::stop_repeating(Connection& c) {
  timers_.cancel(c.retry);
  pending_.give_back(*std::exchange(c.pending, nullptr));
}

void Machine::check_resources(const Connection& c) const {
  const Resources& owned = resources_of(c.state);
  CM_ASSERT(c.retry.armed() == owned.retry_timer);
  CM_ASSERT((c.pending != nullptr) == owned.retry_timer);
  CM_ASSERT(c.timewait.armed() == owned.timewait_timer);
  CM_ASSERT(c.listed_by_peer == owned.found_by_peer);
  CM_ASSERT(c.listed_by_request == owned.found_by_request);
}

void Machine::release(Connection& c, Instant now) {
  transition(c, State::kIdle, now);
  registry_.release(c);
}

bool Machine::send_again(Connection& c, Instant now) {
  if (c.retries_left == 0) return false;
  --c.retries_left;
  outbox_.send(c.path).mad = *c.pending;
  timers_.arm(c.retry, now + timer_wait(config_.profile, c.retry_interval, WaitStart::kOnExpiry));
  return true;
}

// The wait starts afresh and all later ones are as long; the retries are not refilled (3.1).
void Machine::stretch_wait(Connection& c, const wire::Mra& mra, Instant now) {
  c.retry_interval = from_exponent(mra.service_timeout) + from_exponent(c.ack_timeout);
  timers_.arm(c.retry, now + timer_wait(config_.profile, c.retry_interval, WaitStart::kAnyTime));
}

void Machine::report_rej(Connection& c, std::uint16_t reason, std::span<const std::uint8_t> data) {
  Upcall& upcall = outbox_.upcall(UpcallKind::kRejReceived, c.local_id);
  upcall.reject_reason = static_cast<std::uint8_t>(reason);
  upcall.private_data = data;
}

}  // namespace anyrdma::ibcm
