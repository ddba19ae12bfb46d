// The legal steps, and the page that shows them.
#include <array>
#include <string>

#include "sim/legality.h"
#include "transport/event_name.h"

namespace anyrdma::sim {
namespace {

using enum Phase;

constexpr std::array kEffects{
    CallEffect{"resolve_addr", kAddrQuery},
    CallEffect{"resolve_route", kRouteQuery},
    CallEffect{"set_option(IB, PATH)", kRouteQuery},
    CallEffect{"listen", kListening},
    CallEffect{"connect", kConnecting},
    CallEffect{"accept", kAccepted},
    CallEffect{"destroy", kDestroyed},
};

constexpr std::string_view kNeighbour =
    "cma.c cma_netevent_callback: any active id with a route; libfabric #12362";
constexpr std::string_view kTimeout = "cm.c cm_process_send_error: REQ retries exhausted";
constexpr std::string_view kRejected = "cm.c cm_rej_handler, cma.c cma_ib_handler";

constexpr LegalEvent step(Phase from, rdma_cm_event_type event, Phase next, Side side,
                          std::string_view source) {
  return {from, event, next, side, source};
}

constexpr std::array kSteps{
    step(kAddrQuery, RDMA_CM_EVENT_ADDR_RESOLVED, kAddrResolved, Side::kAny, "cma.c addr_handler"),
    step(kAddrQuery, RDMA_CM_EVENT_ADDR_ERROR, kIdle, Side::kAny, "cma.c addr_handler"),
    step(kRouteQuery, RDMA_CM_EVENT_ROUTE_RESOLVED, kRouteResolved, Side::kAny,
         "cma.c cma_work_handler; ucma.c ucma_set_ib_path"),
    step(kRouteQuery, RDMA_CM_EVENT_ROUTE_ERROR, kAddrResolved, Side::kAny,
         "cma.c cma_query_handler"),
    step(kRouteResolved, RDMA_CM_EVENT_UNREACHABLE, kRouteResolved, Side::kAny, kNeighbour),

    step(kConnecting, RDMA_CM_EVENT_CONNECT_RESPONSE, kResponded, Side::kActive,
         "cma.c cma_ib_handler: REP; librdmacm shows ESTABLISHED to ids with a QP"),
    step(kConnecting, RDMA_CM_EVENT_ESTABLISHED, kResponded, Side::kActive,
         "cma.c cma_sidr_rep_handler: datagrams"),
    step(kConnecting, RDMA_CM_EVENT_ADDR_ERROR, kRefused, Side::kActive,
         "cma.c cma_sidr_rep_handler: the reply's QKey does not fit"),
    step(kConnecting, RDMA_CM_EVENT_REJECTED, kRefused, Side::kActive, kRejected),
    // Whether it is the end (no answer) or not (the neighbour moved), the next event tells.
    step(kConnecting, RDMA_CM_EVENT_UNREACHABLE, kConnecting, Side::kActive, kTimeout),

    step(kResponded, RDMA_CM_EVENT_DISCONNECTED, kDisconnected, Side::kActive,
         "cm.c cm_dreq_handler, cm_drep_handler, cm_process_send_error"),
    step(kResponded, RDMA_CM_EVENT_REJECTED, kRefused, Side::kActive,
         "cm.c cm_rej_handler in ESTABLISHED: the peer's id died before it saw RTU"),
    step(kResponded, RDMA_CM_EVENT_UNREACHABLE, kResponded, Side::kActive, kNeighbour),

    step(kAccepted, RDMA_CM_EVENT_ESTABLISHED, kEstablished, Side::kPassive,
         "cm.c cm_rtu_handler, cm_establish"),
    step(kAccepted, RDMA_CM_EVENT_REJECTED, kRefused, Side::kPassive, kRejected),
    step(kAccepted, RDMA_CM_EVENT_UNREACHABLE, kRefused, Side::kPassive,
         "cm.c cm_process_send_error: REP retries exhausted"),
    step(kAccepted, RDMA_CM_EVENT_DISCONNECTED, kDisconnected, Side::kPassive,
         "cm.c cm_dreq_handler in REP_SENT: DREQ overtook RTU; UCX #4719"),
    step(kEstablished, RDMA_CM_EVENT_DISCONNECTED, kDisconnected, Side::kPassive,
         "cm.c cm_dreq_handler, cm_drep_handler, cm_process_send_error"),
    step(kEstablished, RDMA_CM_EVENT_REJECTED, kRefused, Side::kPassive,
         "cm.c cm_rej_handler in ESTABLISHED"),

    step(kRefused, RDMA_CM_EVENT_UNREACHABLE, kRefused, Side::kActive, kNeighbour),
    step(kDisconnected, RDMA_CM_EVENT_UNREACHABLE, kDisconnected, Side::kActive, kNeighbour),
    step(kDisconnected, RDMA_CM_EVENT_TIMEWAIT_EXIT, kOver, Side::kAny,
         "cm.c cm_timewait_handler, cma.c cma_ib_handler"),
    step(kOver, RDMA_CM_EVENT_UNREACHABLE, kOver, Side::kActive, kNeighbour),
};

constexpr std::string_view side_text(Side side) {
  switch (side) {
    case Side::kAny:
      return "";
    case Side::kActive:
      return "active";
    case Side::kPassive:
      return "passive";
  }
  return "?";
}

void add_row(std::string& text, std::initializer_list<std::string_view> cells) {
  text += '|';
  for (const std::string_view cell : cells) {
    text += cell.empty() ? std::string(" |") : " " + std::string(cell) + " |";
  }
  text += '\n';
}

}  // namespace

std::span<const LegalEvent> legal_events() {
  return kSteps;
}

std::span<const CallEffect> call_effects() {
  return kEffects;
}

std::string_view to_string(Phase phase) {
  static constexpr std::array<std::string_view, kPhaseCount> kNames{
      "idle",           "address query", "address resolved", "route query",
      "route resolved", "listening",     "connecting",       "responded",
      "requested",      "accepted",      "established",      "refused",
      "disconnected",   "over",          "removed",          "destroyed"};
  return kNames[static_cast<std::size_t>(phase)];
}

std::string legality_tables() {
  std::string text;
  add_row(text, {"call that succeeds", "phase"});
  add_row(text, {"---", "---"});
  for (const CallEffect& effect : kEffects) add_row(text, {effect.call, to_string(effect.next)});
  text += '\n';
  add_row(text, {"phase", "event", "next phase", "side", "source"});
  add_row(text, {"---", "---", "---", "---", "---"});
  for (const LegalEvent& legal : kSteps) {
    add_row(text, {to_string(legal.from), transport::short_event_name(legal.event),
                   to_string(legal.next), side_text(legal.side), legal.source});
  }
  return text;
}

}  // namespace anyrdma::sim
