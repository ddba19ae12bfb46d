#include "transport/ibcm/names.h"

namespace anyrdma::ibcm {

std::string_view to_string(State state) {
  switch (state) {
    case State::kIdle:
      return "IDLE";
    case State::kListen:
      return "LISTEN";
    case State::kReqSent:
      return "REQ_SENT";
    case State::kReqRcvd:
      return "REQ_RCVD";
    case State::kMraReqSent:
      return "MRA_REQ_SENT";
    case State::kMraReqRcvd:
      return "MRA_REQ_RCVD";
    case State::kRepSent:
      return "REP_SENT";
    case State::kRepRcvd:
      return "REP_RCVD";
    case State::kMraRepSent:
      return "MRA_REP_SENT";
    case State::kMraRepRcvd:
      return "MRA_REP_RCVD";
    case State::kEstablished:
      return "ESTABLISHED";
    case State::kDreqSent:
      return "DREQ_SENT";
    case State::kDreqRcvd:
      return "DREQ_RCVD";
    case State::kTimewait:
      return "TIMEWAIT";
    case State::kSidrReqSent:
      return "SIDR_REQ_SENT";
    case State::kSidrReqRcvd:
      return "SIDR_REQ_RCVD";
  }
  return "?";
}

std::string_view to_string(Event event) {
  switch (event) {
    case Event::kReq:
      return "REQ";
    case Event::kReqDuplicate:
      return "REQ again";
    case Event::kStale:
      return "stale QPN";
    case Event::kMra:
      return "MRA";
    case Event::kRep:
      return "REP";
    case Event::kRtu:
      return "RTU";
    case Event::kRej:
      return "REJ";
    case Event::kDreq:
      return "DREQ";
    case Event::kDrep:
      return "DREP";
    case Event::kSidrReq:
      return "SIDR_REQ";
    case Event::kSidrReqDuplicate:
      return "SIDR_REQ again";
    case Event::kSidrRep:
      return "SIDR_REP";
    case Event::kSendReq:
      return "send REQ";
    case Event::kRequestTaken:
      return "request taken";
    case Event::kRequestDropped:
      return "request dropped";
    case Event::kSendRep:
      return "send REP";
    case Event::kSendRtu:
      return "send RTU";
    case Event::kSendRej:
      return "send REJ";
    case Event::kSendDreq:
      return "send DREQ";
    case Event::kSendDrep:
      return "send DREP";
    case Event::kSendSidrReq:
      return "send SIDR_REQ";
    case Event::kSendSidrRep:
      return "send SIDR_REP";
    case Event::kNotify:
      return "notify";
    case Event::kDestroy:
      return "destroy";
    case Event::kRetryTimer:
      return "retry timer";
    case Event::kTimewaitTimer:
      return "timewait timer";
    case Event::kPeerGone:
      return "peer gone";
  }
  return "?";
}

std::string_view to_string(UpcallKind kind) {
  switch (kind) {
    case UpcallKind::kReqReceived:
      return "req received";
    case UpcallKind::kReqError:
      return "req error";
    case UpcallKind::kRepReceived:
      return "rep received";
    case UpcallKind::kRepError:
      return "rep error";
    case UpcallKind::kRtuReceived:
      return "rtu received";
    case UpcallKind::kUserEstablished:
      return "user established";
    case UpcallKind::kRejReceived:
      return "rej received";
    case UpcallKind::kDreqReceived:
      return "dreq received";
    case UpcallKind::kDreqError:
      return "dreq error";
    case UpcallKind::kDrepReceived:
      return "drep received";
    case UpcallKind::kTimewaitExit:
      return "timewait exit";
    case UpcallKind::kSidrReqReceived:
      return "sidr req received";
    case UpcallKind::kSidrReqError:
      return "sidr req error";
    case UpcallKind::kSidrRepReceived:
      return "sidr rep received";
  }
  return "?";
}

std::string_view to_string(DropReason reason) {
  switch (reason) {
    case DropReason::kMalformed:
      return "malformed";
    case DropReason::kUnknownId:
      return "unknown id";
    case DropReason::kWrongState:
      return "wrong state";
    case DropReason::kDuplicate:
      return "duplicate";
    case DropReason::kWrongQpn:
      return "wrong qpn";
    case DropReason::kBacklogFull:
      return "backlog full";
    case DropReason::kUnsupported:
      return "unsupported";
  }
  return "?";
}

}  // namespace anyrdma::ibcm
