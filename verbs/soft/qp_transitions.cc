#include "verbs/soft/qp_transitions.h"

#include <array>

namespace anyrdma::verbs::soft {

namespace {

// Attributes that come together, by what they describe.
constexpr int kPlace = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
constexpr int kPeer = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
constexpr int kResponder = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
constexpr int kRequester =
    IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
constexpr int kMigration = IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE;
// What may come with them: on the way to RTR, and whenever requests may be sent.
constexpr int kWithPeer = IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX;
constexpr int kLive = IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | kMigration;
constexpr int kLiveResponder = kLive | IBV_QP_MIN_RNR_TIMER;

constexpr std::array kRcRows{
    TransitionRow{IBV_QPS_RESET, IBV_QPS_INIT, kPlace, 0},
    TransitionRow{IBV_QPS_INIT, IBV_QPS_INIT, 0, kPlace},
    TransitionRow{IBV_QPS_INIT, IBV_QPS_RTR, kPeer | kResponder, kWithPeer},
    TransitionRow{IBV_QPS_RTR, IBV_QPS_RTS, kRequester | IBV_QP_SQ_PSN, kLiveResponder},
    TransitionRow{IBV_QPS_RTS, IBV_QPS_RTS, 0, kLiveResponder},
    TransitionRow{IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
    TransitionRow{IBV_QPS_SQD, IBV_QPS_RTS, 0, kLiveResponder},
    TransitionRow{IBV_QPS_SQD, IBV_QPS_SQD, 0,
                  kPlace | IBV_QP_AV | kRequester | kResponder | kMigration},
};

constexpr std::array kUcRows{
    TransitionRow{IBV_QPS_RESET, IBV_QPS_INIT, kPlace, 0},
    TransitionRow{IBV_QPS_INIT, IBV_QPS_INIT, 0, kPlace},
    TransitionRow{IBV_QPS_INIT, IBV_QPS_RTR, kPeer, kWithPeer},
    TransitionRow{IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, kLive},
    TransitionRow{IBV_QPS_RTS, IBV_QPS_RTS, 0, kLive},
    TransitionRow{IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
    TransitionRow{IBV_QPS_SQD, IBV_QPS_RTS, 0, kLive},
    TransitionRow{IBV_QPS_SQD, IBV_QPS_SQD, 0,
                  IBV_QP_AV | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | kMigration},
    TransitionRow{IBV_QPS_SQE, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS},
};

// The halves of an extended connection: what a requester needs, what a responder needs.
constexpr std::array kXrcSendRows{
    TransitionRow{IBV_QPS_RESET, IBV_QPS_INIT, kPlace, 0},
    TransitionRow{IBV_QPS_INIT, IBV_QPS_INIT, 0, kPlace},
    TransitionRow{IBV_QPS_INIT, IBV_QPS_RTR, kPeer, kWithPeer},
    TransitionRow{IBV_QPS_RTR, IBV_QPS_RTS, kRequester | IBV_QP_SQ_PSN, kLive},
    TransitionRow{IBV_QPS_RTS, IBV_QPS_RTS, 0, kLive},
    TransitionRow{IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
    TransitionRow{IBV_QPS_SQD, IBV_QPS_RTS, 0, kLive},
    TransitionRow{IBV_QPS_SQD, IBV_QPS_SQD, 0, kPlace | IBV_QP_AV | kRequester | kMigration},
};

constexpr std::array kXrcReceiveRows{
    TransitionRow{IBV_QPS_RESET, IBV_QPS_INIT, kPlace, 0},
    TransitionRow{IBV_QPS_INIT, IBV_QPS_INIT, 0, kPlace},
    TransitionRow{IBV_QPS_INIT, IBV_QPS_RTR, kPeer | kResponder, kWithPeer},
    TransitionRow{IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_TIMEOUT | IBV_QP_SQ_PSN, kLiveResponder},
    TransitionRow{IBV_QPS_RTS, IBV_QPS_RTS, 0, kLiveResponder},
    TransitionRow{IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
    TransitionRow{IBV_QPS_SQD, IBV_QPS_RTS, 0, kLiveResponder},
    TransitionRow{IBV_QPS_SQD, IBV_QPS_SQD, 0,
                  kPlace | IBV_QP_AV | IBV_QP_TIMEOUT | kResponder | kMigration},
};

constexpr int kDatagramPlace = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;

constexpr std::array kUdRows{
    TransitionRow{IBV_QPS_RESET, IBV_QPS_INIT, kDatagramPlace, 0},
    TransitionRow{IBV_QPS_INIT, IBV_QPS_INIT, 0, kDatagramPlace},
    TransitionRow{IBV_QPS_INIT, IBV_QPS_RTR, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
    TransitionRow{IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, IBV_QP_CUR_STATE | IBV_QP_QKEY},
    TransitionRow{IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY},
    TransitionRow{IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
    TransitionRow{IBV_QPS_SQD, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY},
    TransitionRow{IBV_QPS_SQD, IBV_QPS_SQD, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
    TransitionRow{IBV_QPS_SQE, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY},
};

constexpr int kUniversal = IBV_QP_STATE;

}  // namespace

std::span<const TransitionRow> transitions_of(ibv_qp_type type) {
  if (type == IBV_QPT_RC) return kRcRows;
  if (type == IBV_QPT_UC) return kUcRows;
  if (type == IBV_QPT_UD) return kUdRows;
  if (type == IBV_QPT_XRC_SEND) return kXrcSendRows;
  if (type == IBV_QPT_XRC_RECV) return kXrcReceiveRows;
  return {};
}

int ignored_attributes(ibv_qp_type type) {
  if (type == IBV_QPT_XRC_SEND) return kResponder;
  if (type == IBV_QPT_XRC_RECV)
    return IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY;
  return 0;
}

bool transition_allowed(ibv_qp_type type, ibv_qp_state from, ibv_qp_state to, int mask) {
  if (to == IBV_QPS_RESET || (to == IBV_QPS_ERR && from != IBV_QPS_RESET)) {
    return (mask & ~kUniversal) == 0;
  }
  for (const TransitionRow& row : transitions_of(type)) {
    if (row.from != from || row.to != to) continue;
    return (mask & row.required) == row.required &&
           (mask & ~(row.required | row.optional | kUniversal)) == 0;
  }
  return false;
}

}  // namespace anyrdma::verbs::soft
