// The legal steps, and the page that shows them.
#include <array>
#include <string>

#include "check/legality.h"
#include "transport/event_name.h"

namespace anyrdma::check {
namespace {

using enum Phase;

using enum Service;

constexpr std::array kEffects{
    CallEffect{"resolve_addr", kAddrQuery, Service::kAny},
    CallEffect{"resolve_route", kRouteQuery, Service::kAny},
    CallEffect{"set_option(IB, PATH)", kRouteQuery, Service::kAny},
    CallEffect{"listen", kListening, Service::kAny},
    CallEffect{"connect", kConnecting, kConnected},
    CallEffect{"accept", kAccepted, kConnected},
    CallEffect{"connect", kAsking, kDatagram},
    CallEffect{"accept", kServing, kDatagram},
    CallEffect{"destroy", kDestroyed, Service::kAny},
};

constexpr std::string_view kNeighbour =
    "cma.c cma_netevent_callback: a neighbour has another link address; libfabric #12362";
constexpr std::string_view kTimeout = "cm.c cm_process_send_error: no answer to the last REQ";
constexpr std::string_view kRejected = "cm.c cm_rej_handler, cma.c cma_ib_handler";
constexpr std::string_view kResponse =
    "cma.c cma_ib_handler: REP came; librdmacm reports ESTABLISHED to ids with a QP";
constexpr std::string_view kSidrReply = "cma.c cma_sidr_rep_handler";
constexpr std::string_view kSidrQkey =
    "cma.c cma_sidr_rep_handler: the QKey of SIDR_REP is refused";
constexpr std::string_view kSidrNo =
    "cma.c cma_sidr_rep_handler: no answer to the last SIDR_REQ, or SIDR_REP refuses it";
constexpr std::string_view kDreq = "cm.c cm_dreq_handler, cm_drep_handler, cm_process_send_error";

constexpr LegalEvent finding(Phase from, rdma_cm_event_type event, Phase next,
                             std::string_view source) {
  return {from, event, next, Service::kAny, Side::kAny, source};
}
constexpr LegalEvent active(Phase from, rdma_cm_event_type event, Phase next,
                            std::string_view source) {
  return {from, event, next, kConnected, Side::kActive, source};
}
constexpr LegalEvent passive(Phase from, rdma_cm_event_type event, Phase next,
                             std::string_view source) {
  return {from, event, next, kConnected, Side::kPassive, source};
}
constexpr LegalEvent asking(Phase from, rdma_cm_event_type event, Phase next,
                            std::string_view source) {
  return {from, event, next, kDatagram, Side::kActive, source};
}

constexpr std::array kSteps{
    finding(kAddrQuery, RDMA_CM_EVENT_ADDR_RESOLVED, kAddrResolved, "cma.c addr_handler"),
    finding(kAddrQuery, RDMA_CM_EVENT_ADDR_ERROR, kIdle, "cma.c addr_handler"),
    finding(kRouteQuery, RDMA_CM_EVENT_ROUTE_RESOLVED, kRouteResolved,
            "cma.c cma_work_handler; ucma.c ucma_set_ib_path"),
    finding(kRouteQuery, RDMA_CM_EVENT_ROUTE_ERROR, kAddrResolved, "cma.c cma_query_handler"),
    finding(kRouteResolved, RDMA_CM_EVENT_UNREACHABLE, kRouteResolved, kNeighbour),

    active(kConnecting, RDMA_CM_EVENT_CONNECT_RESPONSE, kResponded, kResponse),
    active(kConnecting, RDMA_CM_EVENT_REJECTED, kRefused, kRejected),
    // UNREACHABLE has two causes: REQ was never answered (the end), or the neighbour has another
    // link address (the handshake continues). The next event tells which.
    active(kConnecting, RDMA_CM_EVENT_UNREACHABLE, kUnreached, kTimeout),
    active(kUnreached, RDMA_CM_EVENT_CONNECT_RESPONSE, kResponded, kResponse),
    active(kUnreached, RDMA_CM_EVENT_REJECTED, kRefused, kRejected),
    active(kUnreached, RDMA_CM_EVENT_UNREACHABLE, kUnreached, kNeighbour),
    active(kResponded, RDMA_CM_EVENT_DISCONNECTED, kDisconnected, kDreq),
    active(kResponded, RDMA_CM_EVENT_REJECTED, kRefused,
           "cm.c cm_rej_handler in ESTABLISHED: the peer's id was destroyed before RTU came"),
    active(kResponded, RDMA_CM_EVENT_UNREACHABLE, kResponded, kNeighbour),

    passive(kAccepted, RDMA_CM_EVENT_ESTABLISHED, kEstablished,
            "cm.c cm_rtu_handler, cm_establish"),
    passive(kAccepted, RDMA_CM_EVENT_REJECTED, kRefused, kRejected),
    passive(kAccepted, RDMA_CM_EVENT_UNREACHABLE, kRefused,
            "cm.c cm_process_send_error: no answer to the last REP"),
    passive(kAccepted, RDMA_CM_EVENT_DISCONNECTED, kDisconnected,
            "cm.c cm_dreq_handler in REP_SENT: DREQ came before RTU; UCX #4719"),
    passive(kEstablished, RDMA_CM_EVENT_DISCONNECTED, kDisconnected, kDreq),
    passive(kEstablished, RDMA_CM_EVENT_REJECTED, kRefused, "cm.c cm_rej_handler in ESTABLISHED"),

    active(kRefused, RDMA_CM_EVENT_UNREACHABLE, kRefused, kNeighbour),
    active(kDisconnected, RDMA_CM_EVENT_UNREACHABLE, kDisconnected, kNeighbour),
    active(kDisconnected, RDMA_CM_EVENT_TIMEWAIT_EXIT, kOver,
           "cm.c cm_timewait_handler, cma.c cma_ib_handler"),
    passive(kDisconnected, RDMA_CM_EVENT_TIMEWAIT_EXIT, kOver,
            "cm.c cm_timewait_handler, cma.c cma_ib_handler"),
    active(kOver, RDMA_CM_EVENT_UNREACHABLE, kOver, kNeighbour),

    asking(kAsking, RDMA_CM_EVENT_ESTABLISHED, kAnswered, kSidrReply),
    asking(kAsking, RDMA_CM_EVENT_ADDR_ERROR, kRefused, kSidrQkey),
    // As with connections, the next event tells whether it is the end.
    asking(kAsking, RDMA_CM_EVENT_UNREACHABLE, kUnanswered, kSidrNo),
    asking(kUnanswered, RDMA_CM_EVENT_ESTABLISHED, kAnswered, kSidrReply),
    asking(kUnanswered, RDMA_CM_EVENT_ADDR_ERROR, kRefused, kSidrQkey),
    asking(kUnanswered, RDMA_CM_EVENT_UNREACHABLE, kUnanswered, kNeighbour),
    asking(kAnswered, RDMA_CM_EVENT_UNREACHABLE, kAnswered, kNeighbour),
    asking(kRefused, RDMA_CM_EVENT_UNREACHABLE, kRefused, kNeighbour),
};

constexpr std::string_view id_text(Side side) {
  switch (side) {
    case Side::kAny:
      return "an id";
    case Side::kActive:
      return "an id of the active side";
    case Side::kPassive:
      return "an id of the passive side";
  }
  return "?";
}

/// Each row of the page is understood without the others, so its cells have more than the names.
std::string row_of(const LegalEvent& legal) {
  std::string row = "| ";
  row += id_text(legal.side);
  row += " in phase *";
  row += to_string(legal.from);
  row += "* | may get ";
  row += transport::short_event_name(legal.event);
  row += " | its next phase is *";
  row += to_string(legal.next);
  row += "* | Linux ";
  row += legal.source;
  return row + " |\n";
}

void add_row(std::string& text, std::initializer_list<std::string_view> cells) {
  text += '|';
  for (const std::string_view cell : cells) text += " " + std::string(cell) + " |";
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
      "idle",      "address query", "address resolved", "route query",  "route resolved",
      "listening", "connecting",    "unreached",        "responded",    "requested",
      "accepted",  "established",   "refused",          "disconnected", "over",
      "asking",    "unanswered",    "answered",         "serving",      "removed",
      "destroyed"};
  return kNames[static_cast<std::size_t>(phase)];
}

std::string legality_tables(Service service) {
  std::string text;
  add_row(text, {"call that succeeds", "phase"});
  add_row(text, {"---", "---"});
  for (const CallEffect& effect : kEffects) {
    if (effect.service == service) add_row(text, {effect.call, to_string(effect.next)});
  }
  text += '\n';
  add_row(text, {"id", "event", "next phase", "source"});
  add_row(text, {"---", "---", "---", "---"});
  for (const LegalEvent& legal : kSteps) {
    if (legal.service == service) text += row_of(legal);
  }
  return text;
}

}  // namespace anyrdma::check
