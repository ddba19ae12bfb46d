// Enhanced connection establishment (L/cma.c:init_ece): whose options go where, and when.
#include "cm/cm_fixture.h"

namespace anyrdma::cm::testing {
namespace {

using ::testing::Field;
using ::testing::IsEmpty;

constexpr std::uint32_t kOurs = 0x15b3;
constexpr std::uint32_t kForeign = 0x1;

MATCHER_P2(EceIs, vendor, options, "") {
  *result_listener << "which is vendor " << arg.vendor_id << ", options " << arg.options;
  return arg.vendor_id == static_cast<std::uint32_t>(vendor) &&
         arg.options == static_cast<std::uint32_t>(options);
}

class Ece : public CmTest {
 protected:
  Ece() { provider_.ece = ibv_ece{kOurs, 0xf0, 0}; }

  void create_qp(const Placed& placed) {
    ibv_qp_init_attr attributes = qp_attributes();
    EXPECT_EQ(errno_of(placed.id->create_qp(nullptr, &attributes)), 0);
  }
  static void clean_up(const Placed& placed) { EXPECT_TRUE(placed.id->destroy_qp()); }
  Placed requested(const ibv_ece& ece) {
    listening_ = listener();
    Placed child;
    child.endpoint =
        transport_.request(*listening_.endpoint,
                           {.type = RDMA_CM_EVENT_CONNECT_REQUEST, .private_data = {}, .ece = ece});
    child.id = next().take_request();
    return child;
  }
  Placed connecting() {
    Placed placed = place(Place::kRouteResolved);
    create_qp(placed);
    EXPECT_TRUE(placed.id->connect(nullptr));
    return placed;
  }
  void respond(const Placed& placed, const ibv_ece& ece) {
    transport_.raise(*placed.endpoint,
                     {.type = RDMA_CM_EVENT_CONNECT_RESPONSE, .private_data = {}, .ece = ece});
  }

  Placed listening_;
};

// --- without a QP: the program's business -------------------------------------------------------

TEST_F(Ece, WhatAProgramSetsGoesOutWithConnect) {
  Placed placed = place(Place::kRouteResolved);
  const rdma_conn_param param{};
  EXPECT_CALL(*placed.endpoint, connect(Field(&ConnectionParameters::ece, EceIs(kForeign, 0xab))));

  EXPECT_EQ(errno_of(placed.id->set_local_ece({kForeign, 0xab, 0})), 0);
  EXPECT_EQ(errno_of(placed.id->connect(&param)), 0);
}

TEST_F(Ece, AcceptAnswersWithTheVendorThatAskedAndTheProgramsOptions) {
  Placed child = requested({kForeign, 0x3, 0});
  const rdma_conn_param param{};
  EXPECT_CALL(*child.endpoint, accept(Field(&ConnectionParameters::ece, EceIs(kForeign, 0x1))));

  EXPECT_EQ(errno_of(child.id->set_local_ece({kOurs, 0x1, 0})), 0);
  EXPECT_EQ(errno_of(child.id->accept(&param)), 0);
}

TEST_F(Ece, ThePeersOptionsCanBeReadOnBothSides) {
  Placed child = requested({kForeign, 0x3, 0});
  Placed active = place(Place::kConnect);
  EXPECT_THAT(active.id->remote_ece().value(), EceIs(0, 0));
  respond(active, {kForeign, 0x7, 0});
  EXPECT_THAT(next(), EventIs(RDMA_CM_EVENT_CONNECT_RESPONSE));

  EXPECT_THAT(child.id->remote_ece().value(), EceIs(kForeign, 0x3));
  EXPECT_THAT(active.id->remote_ece().value(), EceIs(kForeign, 0x7));
}

TEST_F(Ece, VendorZeroAndUnknownFieldsAreRefused) {
  Placed placed = make_id();

  EXPECT_EQ(errno_of(placed.id->set_local_ece({0, 1, 0})), EINVAL);
  EXPECT_EQ(errno_of(placed.id->set_local_ece({kOurs, 1, 1})), EINVAL);
}

TEST_F(Ece, IdsWithAQueuePairLeaveItToThem) {
  Placed placed = place(Place::kRouteResolved);
  create_qp(placed);

  EXPECT_EQ(errno_of(placed.id->set_local_ece({kOurs, 1, 0})), EINVAL);
  EXPECT_EQ(errno_of(placed.id->remote_ece()), EINVAL);
  clean_up(placed);
}

// --- with a QP ----------------------------------------------------------------------------------

TEST_F(Ece, AnActiveQueuePairsOwnOptionsGoOutWithConnect) {
  Placed placed = place(Place::kRouteResolved);
  create_qp(placed);
  EXPECT_CALL(*placed.endpoint, connect(Field(&ConnectionParameters::ece, EceIs(kOurs, 0xf0))));

  EXPECT_EQ(errno_of(placed.id->connect(nullptr)), 0);

  EXPECT_THAT(provider_.eces_set, IsEmpty());
  clean_up(placed);
}

TEST_F(Ece, ARequestsOptionsAreSetOnTheNewQueuePairAndItsAnswerGoesBack) {
  Placed child = requested({kOurs, 0x30, 0});

  create_qp(child);

  EXPECT_THAT(provider_.eces_set, ElementsAre(EceIs(kOurs, 0x30)));
  EXPECT_CALL(*child.endpoint, accept(Field(&ConnectionParameters::ece, EceIs(kOurs, 0xf0))));
  EXPECT_EQ(errno_of(child.id->accept(nullptr)), 0);
  clean_up(child);
}

TEST_F(Ece, AnotherVendorsOptionsAreNotSet) {
  Placed child = requested({kForeign, 0x30, 0});

  create_qp(child);

  EXPECT_THAT(provider_.eces_set, ElementsAre(EceIs(kOurs, 0)));
  clean_up(child);
}

TEST_F(Ece, ADeviceWithoutOptionsAnnouncesNone) {
  provider_.ece = std::nullopt;
  Placed child = requested({kForeign, 0x30, 0});
  create_qp(child);
  EXPECT_CALL(*child.endpoint, accept(Field(&ConnectionParameters::ece, EceIs(kForeign, 0))));

  EXPECT_EQ(errno_of(child.id->accept(nullptr)), 0);
  clean_up(child);
}

TEST_F(Ece, AQueuePairThatRefusesTheOptionsIsNotLeftBehind) {
  Placed child = requested({kOurs, 0x30, 0});
  provider_.set_ece_error = EIO;
  ibv_qp_init_attr attributes = qp_attributes();

  EXPECT_EQ(errno_of(child.id->create_qp(nullptr, &attributes)), EIO);

  EXPECT_EQ(provider_.live.qps, 0u);
}

TEST_F(Ece, TheResponsesOptionsAreSetBeforeTheQueuePairMoves) {
  Placed placed = connecting();
  respond(placed, {kOurs, 0x10, 0});

  EXPECT_THAT(next(), EventIs(RDMA_CM_EVENT_ESTABLISHED));

  EXPECT_THAT(provider_.eces_set, ElementsAre(EceIs(kOurs, 0x10)));
  clean_up(placed);
}

TEST_F(Ece, AResponseWithoutOptionsTurnsThemOff) {
  Placed placed = connecting();
  respond(placed, {});

  EXPECT_THAT(next(), EventIs(RDMA_CM_EVENT_ESTABLISHED));

  EXPECT_THAT(provider_.eces_set, ElementsAre(EceIs(kOurs, 0)));
  clean_up(placed);
}

TEST_F(Ece, AResponseOfAnotherVendorEndsTheHandshake) {
  Placed placed = connecting();
  EXPECT_CALL(*placed.endpoint, establish()).Times(0);
  respond(placed, {kForeign, 0x10, 0});

  EXPECT_THAT(next(), ::testing::AllOf(EventIs(RDMA_CM_EVENT_CONNECT_ERROR), HasStatus(-1)));

  EXPECT_EQ(placed.id->qp()->state, IBV_QPS_ERR);
  clean_up(placed);
}

TEST_F(Ece, OptionsThatTheDeviceRefusesEndTheHandshakeWithItsErrnoAndLeaveTheQueuePair) {
  Placed placed = connecting();
  EXPECT_CALL(*placed.endpoint, establish()).Times(0);
  provider_.set_ece_error = EIO;
  respond(placed, {kOurs, 0x10, 0});

  EXPECT_THAT(next(), ::testing::AllOf(EventIs(RDMA_CM_EVENT_CONNECT_ERROR), HasStatus(EIO)));

  EXPECT_EQ(placed.id->qp()->state, IBV_QPS_INIT);
  clean_up(placed);
}

}  // namespace
}  // namespace anyrdma::cm::testing
