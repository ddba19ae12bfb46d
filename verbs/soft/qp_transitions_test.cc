// Every transition of every service, and every attribute it needs: taken away one by one.
#include "verbs/soft/qp_transitions.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "verbs/soft/testing/pair.h"

namespace anyrdma::verbs::soft {
namespace {

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
  attr.alt_ah_attr = attr.ah_attr;
  attr.dest_qp_num = 0x200;
  attr.sq_psn = 0x123456;
  attr.rq_psn = 0x654321;
  attr.qkey = 0x1234;
  attr.timeout = 14;
  attr.retry_cnt = attr.rnr_retry = 7;
  attr.max_rd_atomic = attr.max_dest_rd_atomic = 1;
  return attr;
}

const char* service_name(ibv_qp_type type) {
  if (type == IBV_QPT_UC) return "Uc";
  if (type == IBV_QPT_XRC_SEND) return "XrcSend";
  if (type == IBV_QPT_XRC_RECV) return "XrcReceive";
  return type == IBV_QPT_UD ? "Ud" : "Rc";
}

const TransitionRow* row(ibv_qp_state from, ibv_qp_state to, ibv_qp_type type = IBV_QPT_RC) {
  for (const TransitionRow& candidate : transitions_of(type))
    if (candidate.from == from && candidate.to == to) return &candidate;
  return nullptr;
}

class Transitions : public Pair {
 protected:
  // A fresh QP of side a, led to a state. SQE does not exist for a reliable connection.
  void place(ibv_qp_state state, ibv_qp_type type = IBV_QPT_RC) {
    if (a.qp != nullptr) a.hca->destroy_qp(a.qp).value();
    make(type);
    if (state == IBV_QPS_RESET) return;
    for (const ibv_qp_state step : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
      ASSERT_EQ(modify(step, row(a.qp->state, step, type)->required), 0);
      if (step == state) return;
    }
    if (state == IBV_QPS_ERR) {
      ASSERT_EQ(a.modify(IBV_QPS_ERR, 0, {}), 0);
      return;
    }
    if (state == IBV_QPS_SQE) return fail_a_send();
    ASSERT_EQ(a.modify(IBV_QPS_SQD, 0, {}), 0);
  }

  void make(ibv_qp_type type) {
    if (type != IBV_QPT_XRC_RECV) return a.create_qp({.type = type});
    ibv_xrcd_init_attr attr{.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
                            .fd = -1,
                            .oflags = O_CREAT};
    ibv_qp_init_attr_ex init{};
    init.qp_type = type;
    init.comp_mask = IBV_QP_INIT_ATTR_XRCD;
    init.xrcd = ibv_open_xrcd(a.context, &attr);  // closed with the context
    a.qp = verbs_get_ctx(a.context)->create_qp_ex(a.context, &init);
  }

  void fail_a_send() {
    ibv_ah* ah = a.hca->create_ah(a.pd, good_attributes(a).ah_attr).value();
    ibv_sge nowhere{0, 1, 0};
    ibv_send_wr request{};
    request.sg_list = &nowhere;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    if (a.qp->qp_type == IBV_QPT_UD) request.wr.ud.ah = ah;
    ibv_send_wr* failed = nullptr;
    ASSERT_EQ(ibv_post_send(a.qp, &request, &failed), 0);
    carry();
    a.hca->destroy_ah(ah).value();
    ASSERT_EQ(a.qp->state, IBV_QPS_SQE);
  }

  int modify(ibv_qp_state to, int mask) { return a.modify(to, mask, good_attributes(a)); }
};

class TransitionsOf : public Transitions, public ::testing::WithParamInterface<ibv_qp_type> {};

TEST_P(TransitionsOf, EveryPairOfStatesIsAllowedExactlyAsTheTableSays) {
  for (const ibv_qp_state from : kStates) {
    const bool stops = GetParam() == IBV_QPT_UC || GetParam() == IBV_QPT_UD;
    if (from == IBV_QPS_SQE && !stops) continue;
    for (const ibv_qp_state to : kStates) {
      SCOPED_TRACE(std::to_string(from) + " to " + std::to_string(to));
      place(from, GetParam());
      const TransitionRow* const found = row(from, to, GetParam());
      const bool universal = to == IBV_QPS_RESET || (to == IBV_QPS_ERR && from != IBV_QPS_RESET);
      const bool allowed = found != nullptr || universal;
      EXPECT_EQ(modify(to, found != nullptr ? found->required : 0), allowed ? 0 : EINVAL);
      EXPECT_EQ(a.qp->state, allowed ? to : from);
    }
  }
}

TEST_P(TransitionsOf, EachMissingRequiredAttributeIsRefused) {
  for (const TransitionRow& each : transitions_of(GetParam())) {
    for (int bit = 1; bit <= kEveryBit; bit <<= 1) {
      if ((each.required & bit) == 0) continue;
      SCOPED_TRACE(std::to_string(each.from) + " to " + std::to_string(each.to) + " without " +
                   std::to_string(bit));
      place(each.from, GetParam());
      EXPECT_EQ(modify(each.to, each.required & ~bit), EINVAL);
      EXPECT_EQ(a.qp->state, each.from);
    }
  }
}

TEST_P(TransitionsOf, EachOptionalAttributeIsTakenAndEachOtherRefused) {
  for (const TransitionRow& each : transitions_of(GetParam())) {
    for (int bit = 2; bit <= kEveryBit; bit <<= 1) {
      if ((each.required & bit) != 0) continue;
      SCOPED_TRACE(std::to_string(each.from) + " to " + std::to_string(each.to) + " with " +
                   std::to_string(bit));
      place(each.from, GetParam());
      const bool allowed = ((each.optional | ignored_attributes(GetParam())) & bit) != 0;
      EXPECT_EQ(modify(each.to, each.required | bit), allowed ? 0 : EINVAL);
    }
  }
}

TEST_P(TransitionsOf, AnyAttributeOnTheWayToResetOrErrorIsRefused) {
  for (const ibv_qp_state to : {IBV_QPS_RESET, IBV_QPS_ERR}) {
    for (int bit = 2; bit <= kEveryBit; bit <<= 1) {
      place(IBV_QPS_RTS, GetParam());
      const bool ignored = (ignored_attributes(GetParam()) & bit) != 0;
      EXPECT_EQ(modify(to, bit), ignored ? 0 : EINVAL) << bit;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Service, TransitionsOf,
                         ::testing::Values(IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_XRC_SEND,
                                           IBV_QPT_XRC_RECV),
                         [](const auto& param) { return service_name(param.param); });

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
  EXPECT_EQ(attr.path_mtu, IBV_MTU_1024);
  EXPECT_EQ(attr.dest_qp_num, 0x200u);
  EXPECT_EQ(attr.sq_psn, 0x123456u);
  EXPECT_EQ(attr.rq_psn, 0x654321u);
  EXPECT_EQ(attr.timeout, 14);
  EXPECT_EQ(attr.cap.max_send_sge, 4u);
  EXPECT_EQ(init.send_cq, a.cq);
  EXPECT_EQ(init.qp_type, IBV_QPT_RC);
}

TEST_F(Transitions, QueryGivesTheQueueKeyOfADatagramQueuePair) {
  place(IBV_QPS_RTS, IBV_QPT_UD);
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  ASSERT_TRUE(a.hca->query_qp(a.qp, &attr, IBV_QP_QKEY, &init).has_value());
  EXPECT_EQ(attr.qkey, 0x1234u);
  EXPECT_EQ(init.qp_type, IBV_QPT_UD);
}

TEST_F(Transitions, ServicesThatComeLaterAreNotSupportedYet) {
  for (const ibv_qp_type type : {IBV_QPT_RAW_PACKET, IBV_QPT_DRIVER}) {
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = a.cq;
    init.qp_type = type;
    EXPECT_EQ(a.hca->create_qp(a.pd, &init).error().value(), EOPNOTSUPP);
  }
}

TEST_F(Transitions, WhereThereIsRoomForAListThereIsRoomForInlineData) {
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = a.cq;
  init.qp_type = IBV_QPT_RC;
  init.cap = {.max_send_wr = 1,
              .max_recv_wr = 1,
              .max_send_sge = 2,
              .max_recv_sge = 1,
              .max_inline_data = 0};

  ibv_qp* qp = a.hca->create_qp(a.pd, &init).value();

  EXPECT_EQ(init.cap.max_inline_data, 2 * sizeof(ibv_sge));
  EXPECT_TRUE(a.hca->destroy_qp(qp));
}

TEST_F(Transitions, NumbersComeBackAsLateAsPossible) {
  place(IBV_QPS_RESET);
  const std::uint32_t first = a.qp->qp_num;
  place(IBV_QPS_RESET);
  EXPECT_EQ(a.qp->qp_num, first + 1);
}

}  // namespace
}  // namespace anyrdma::verbs::soft
