// Every transition of a reliable connection, and every attribute it needs: taken away one by one.
#include "verbs/soft/qp_transitions.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "verbs/soft/testing/pair.h"

namespace anyrdma::verbs::soft {
namespace {

using testing::ConnectionOptions;
using testing::Pair;
using testing::Side;

constexpr ibv_qp_state kStates[] = {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
                                    IBV_QPS_SQD,   IBV_QPS_SQE,  IBV_QPS_ERR};
constexpr int kEveryBit = (IBV_QP_DEST_QPN << 1) - 1;

// Attributes that are right for every transition.
ibv_qp_attr good_attributes(const Side& side) {
  ibv_qp_attr attr{};
  attr.cur_qp_state = side.qp->state;
  attr.port_num = attr.alt_port_num = 1;
  attr.path_mtu = IBV_MTU_1024;
  attr.ah_attr.is_global = 1;
  attr.ah_attr.port_num = 1;
  attr.ah_attr.grh.sgid_index = 1;
  attr.ah_attr.grh.dgid = testing::ipv4_gid(2);
  attr.dest_qp_num = 0x200;
  attr.timeout = 14;
  attr.retry_cnt = attr.rnr_retry = 7;
  attr.max_rd_atomic = attr.max_dest_rd_atomic = 1;
  return attr;
}

const TransitionRow* row(ibv_qp_state from, ibv_qp_state to) {
  for (const TransitionRow& candidate : rc_transitions())
    if (candidate.from == from && candidate.to == to) return &candidate;
  return nullptr;
}

class Transitions : public Pair {
 protected:
  // A fresh QP of side a, led to a state. SQE does not exist for a reliable connection.
  void place(ibv_qp_state state) {
    const ConnectionOptions options;
    if (a.qp != nullptr) a.hca->destroy_qp(a.qp).value();
    a.create_qp(options);
    if (b.qp == nullptr) b.create_qp(options);
    if (state == IBV_QPS_RESET) return;
    if (state == IBV_QPS_ERR) {
      ASSERT_EQ(a.modify(IBV_QPS_ERR, 0, {}), 0);
      return;
    }
    a.to_init(options);
    if (state == IBV_QPS_INIT) return;
    a.to_rtr(options, b);
    if (state == IBV_QPS_RTR) return;
    a.to_rts(options);
    if (state == IBV_QPS_RTS) return;
    ASSERT_EQ(a.modify(IBV_QPS_SQD, 0, {}), 0);
  }

  int modify(ibv_qp_state to, int mask) { return a.modify(to, mask, good_attributes(a)); }
};

TEST_F(Transitions, EveryPairOfStatesIsAllowedExactlyAsTheTableSays) {
  for (const ibv_qp_state from : kStates) {
    if (from == IBV_QPS_SQE) continue;
    for (const ibv_qp_state to : kStates) {
      SCOPED_TRACE(std::to_string(from) + " to " + std::to_string(to));
      place(from);
      const TransitionRow* const found = row(from, to);
      const bool universal = to == IBV_QPS_RESET || to == IBV_QPS_ERR;
      const bool allowed = found != nullptr || universal;
      EXPECT_EQ(modify(to, found != nullptr ? found->required : 0), allowed ? 0 : EINVAL);
      EXPECT_EQ(a.qp->state, allowed ? to : from);
    }
  }
}

TEST_F(Transitions, EachMissingRequiredAttributeIsRefused) {
  for (const TransitionRow& each : rc_transitions()) {
    for (int bit = 1; bit <= kEveryBit; bit <<= 1) {
      if ((each.required & bit) == 0) continue;
      SCOPED_TRACE(std::to_string(each.from) + " to " + std::to_string(each.to) + " without " +
                   std::to_string(bit));
      place(each.from);
      EXPECT_EQ(modify(each.to, each.required & ~bit), EINVAL);
      EXPECT_EQ(a.qp->state, each.from);
    }
  }
}

TEST_F(Transitions, EachOptionalAttributeIsTakenAndEachOtherRefused) {
  for (const TransitionRow& each : rc_transitions()) {
    for (int bit = 2; bit <= kEveryBit; bit <<= 1) {
      if ((each.required & bit) != 0) continue;
      SCOPED_TRACE(std::to_string(each.from) + " to " + std::to_string(each.to) + " with " +
                   std::to_string(bit));
      place(each.from);
      const bool allowed = (each.optional & bit) != 0;
      EXPECT_EQ(modify(each.to, each.required | bit), allowed ? 0 : EINVAL);
    }
  }
}

TEST_F(Transitions, AnyAttributeOnTheWayToResetOrErrorIsRefused) {
  for (const ibv_qp_state to : {IBV_QPS_RESET, IBV_QPS_ERR}) {
    for (int bit = 2; bit <= kEveryBit; bit <<= 1) {
      place(IBV_QPS_RTS);
      EXPECT_EQ(modify(to, bit), EINVAL) << bit;
    }
  }
}

struct BadValue {
  const char* name;
  ibv_qp_state from;
  ibv_qp_state to;
  void (*spoil)(ibv_qp_attr&);
};

constexpr BadValue kBadValues[] = {
    {"pkey_index", IBV_QPS_RESET, IBV_QPS_INIT, [](ibv_qp_attr& a) { a.pkey_index = 1; }},
    {"port_num", IBV_QPS_RESET, IBV_QPS_INIT, [](ibv_qp_attr& a) { a.port_num = 2; }},
    {"path_mtu 0", IBV_QPS_INIT, IBV_QPS_RTR, [](ibv_qp_attr& a) { a.path_mtu = {}; }},
    {"path_mtu 6", IBV_QPS_INIT, IBV_QPS_RTR,
     [](ibv_qp_attr& a) { a.path_mtu = static_cast<ibv_mtu>(6); }},
    {"dest_qp_num", IBV_QPS_INIT, IBV_QPS_RTR, [](ibv_qp_attr& a) { a.dest_qp_num = 1 << 24; }},
    {"max_dest_rd_atomic", IBV_QPS_INIT, IBV_QPS_RTR,
     [](ibv_qp_attr& a) { a.max_dest_rd_atomic = 17; }},
    {"min_rnr_timer", IBV_QPS_INIT, IBV_QPS_RTR, [](ibv_qp_attr& a) { a.min_rnr_timer = 32; }},
    {"is_global", IBV_QPS_INIT, IBV_QPS_RTR, [](ibv_qp_attr& a) { a.ah_attr.is_global = 0; }},
    {"empty sgid", IBV_QPS_INIT, IBV_QPS_RTR, [](ibv_qp_attr& a) { a.ah_attr.grh.sgid_index = 5; }},
    {"sgid index", IBV_QPS_INIT, IBV_QPS_RTR,
     [](ibv_qp_attr& a) { a.ah_attr.grh.sgid_index = 200; }},
    {"timeout", IBV_QPS_RTR, IBV_QPS_RTS, [](ibv_qp_attr& a) { a.timeout = 32; }},
    {"retry_cnt", IBV_QPS_RTR, IBV_QPS_RTS, [](ibv_qp_attr& a) { a.retry_cnt = 8; }},
    {"rnr_retry", IBV_QPS_RTR, IBV_QPS_RTS, [](ibv_qp_attr& a) { a.rnr_retry = 8; }},
    {"max_rd_atomic", IBV_QPS_RTR, IBV_QPS_RTS, [](ibv_qp_attr& a) { a.max_rd_atomic = 17; }},
};

TEST_F(Transitions, EachValueOutOfRangeIsRefused) {
  for (const BadValue& bad : kBadValues) {
    SCOPED_TRACE(bad.name);
    place(bad.from);
    ibv_qp_attr attr = good_attributes(a);
    bad.spoil(attr);
    EXPECT_EQ(a.modify(bad.to, row(bad.from, bad.to)->required, attr), EINVAL);
    EXPECT_EQ(a.qp->state, bad.from);
  }
}

TEST_F(Transitions, AWrongCurrentStateIsRefused) {
  place(IBV_QPS_RTR);
  ibv_qp_attr attr = good_attributes(a);
  attr.cur_qp_state = IBV_QPS_RTS;
  const int mask = row(IBV_QPS_RTR, IBV_QPS_RTS)->required | IBV_QP_CUR_STATE;
  EXPECT_EQ(a.modify(IBV_QPS_RTS, mask, attr), EINVAL);
}

TEST_F(Transitions, QueryGivesBackWhatWasSet) {
  place(IBV_QPS_RTS);
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  ASSERT_TRUE(a.hca->query_qp(a.qp, &attr, IBV_QP_STATE, &init).has_value());
  EXPECT_EQ(attr.qp_state, IBV_QPS_RTS);
  EXPECT_EQ(attr.path_mtu, IBV_MTU_256);
  EXPECT_EQ(attr.dest_qp_num, b.qp->qp_num);
  EXPECT_EQ(attr.sq_psn, a.first_psn);
  EXPECT_EQ(attr.rq_psn, b.first_psn);
  EXPECT_EQ(attr.timeout, 14);
  EXPECT_EQ(attr.cap.max_send_sge, 4u);
  EXPECT_EQ(init.send_cq, a.cq);
  EXPECT_EQ(init.qp_type, IBV_QPT_RC);
}

TEST_F(Transitions, ServicesThatComeLaterAreNotSupportedYet) {
  for (const ibv_qp_type type : {IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_XRC_SEND, IBV_QPT_RAW_PACKET}) {
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = a.cq;
    init.qp_type = type;
    EXPECT_EQ(a.hca->create_qp(a.pd, &init).error().value(), EOPNOTSUPP);
  }
}

TEST_F(Transitions, NumbersComeBackAsLateAsPossible) {
  place(IBV_QPS_RESET);
  const std::uint32_t first = a.qp->qp_num;
  place(IBV_QPS_RESET);
  EXPECT_EQ(a.qp->qp_num, first + 1);
}

}  // namespace
}  // namespace anyrdma::verbs::soft
