// The passive side: requests, backlog, accept, reject.
#include <algorithm>
#include <array>

#include "cm/cm_fixture.h"

namespace anyrdma::cm::testing {
namespace {

using ::testing::AllOf;
using ::testing::Field;

class IdAccept : public CmTest {
 protected:
  IdAccept() {
    request_.responder_resources = 5;
    request_.initiator_depth = 3;
  }
  Placed with_qp(Placed& listening) {
    Placed child = incoming(listening, request_);
    ibv_qp_init_attr attributes = qp_attributes();
    EXPECT_TRUE(child.id->create_qp(nullptr, &attributes));
    provider_.moves.clear();
    return child;
  }

  rdma_conn_param request_{};
  const rdma_conn_param plain_{};
};

TEST_F(IdAccept, ARequestBringsANewIdThatTakesAfterTheListener) {
  Placed listening = listener();
  int context = 0;
  listening.id->raw()->context = &context;
  std::array<std::uint8_t, 56> data{9, 8};
  transport_.request(*listening.endpoint, request_, data);

  Event event = next();

  const std::vector<std::uint8_t> said{9, 8};
  EXPECT_THAT(event, AllOf(EventIs(RDMA_CM_EVENT_CONNECT_REQUEST), HasStatus(0), HasDepths(5, 3),
                           HasPrivateData(said, 56)));
  EXPECT_EQ(event.listen_id(), listening.id.get());
  std::unique_ptr<Id> child = event.take_request();
  ASSERT_NE(child, nullptr);
  EXPECT_EQ(&event.id(), child.get());
  EXPECT_EQ(event.take_request(), nullptr) << "only once";
  EXPECT_EQ(child->context(), &context);
  EXPECT_EQ(child->raw()->ps, RDMA_PS_TCP);
  EXPECT_EQ(child->raw()->qp_type, IBV_QPT_RC);
  EXPECT_EQ(child->channel(), channel_.get());
  EXPECT_EQ(child->raw()->verbs, provider_.context());
  EXPECT_NE(child->raw()->pd, nullptr);
  EXPECT_EQ(ntohs(child->dst_port()), 7471);
}

TEST_F(IdAccept, ARequestThatNobodyTakesIsDestroyed) {
  Placed listening = listener();
  MockEndpoint* child = transport_.request(*listening.endpoint);
  Event event = next();
  EXPECT_CALL(*child, destroyed());

  event.ack();

  EXPECT_EQ(errno_of(Id::destroy(std::move(listening.id))), 0);
}

TEST_F(IdAccept, ARequestWhoseSetUpFailsIsDestroyedUnseen) {
  Placed listening = make_id();
  listening.endpoint->bound = {};
  EXPECT_TRUE(listening.id->listen(1));
  MockEndpoint* child = transport_.request(*listening.endpoint);
  provider_.alloc_pd_error = ENOMEM;
  EXPECT_CALL(*child, destroyed());

  EXPECT_TRUE(channel_is_empty());

  EXPECT_EQ(listening.id->ledger().fetched, 1u);
  EXPECT_EQ(listening.id->ledger().acknowledged, 1u);
}

TEST_F(IdAccept, ARequestWhoseDeviceIsGoneIsDestroyedUnseen) {
  Placed listening = listener();
  MockEndpoint* child = transport_.request(*listening.endpoint);
  ON_CALL(*child, admits).WillByDefault(Return(Result<void>(errno_code(ENXIO))));
  EXPECT_CALL(*child, destroyed());

  EXPECT_TRUE(channel_is_empty());
}

TEST_F(IdAccept, TheEndpointIsToldOfTheBacklogAndOfEveryFetchedRequest) {
  Placed listening = make_id();
  EXPECT_CALL(*listening.endpoint, listen(7));
  EXPECT_TRUE(listening.id->listen(7));
  transport_.request(*listening.endpoint);
  EXPECT_CALL(*listening.endpoint, on_request_fetched()).Times(0);
  transport_.request(*listening.endpoint);
  ::testing::Mock::VerifyAndClearExpectations(listening.endpoint);

  EXPECT_CALL(*listening.endpoint, on_request_fetched());
  Event held = next();  // fetched is enough, acknowledged or accepted it need not be
}

TEST_F(IdAccept, TheQpIsReadyBeforeTheReplyLeaves) {
  Placed listening = listener();
  Placed child = with_qp(listening);
  rdma_conn_param param{};
  param.responder_resources = 1;
  param.initiator_depth = 2;
  EXPECT_CALL(*child.endpoint,
              accept(AllOf(Field(&ConnectionParameters::responder_resources, 1),
                           Field(&ConnectionParameters::initiator_depth, 2),
                           Field(&ConnectionParameters::qp_num, child.id->qp()->qp_num))))
      .WillOnce([&](const ConnectionParameters&) {
        EXPECT_EQ(child.id->qp()->state, IBV_QPS_RTS);
        return Result<void>();
      });

  EXPECT_EQ(errno_of(child.id->accept(&param)), 0);

  EXPECT_THAT(provider_.states_moved_to(), ElementsAre(IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS));
  EXPECT_EQ(provider_.moves[1].max_dest_rd_atomic, 1);
  EXPECT_EQ(provider_.moves[2].max_rd_atomic, 2);
  EXPECT_TRUE(child.id->destroy_qp());
}

TEST_F(IdAccept, NullEchoesTheRequest) {
  Placed listening = listener();
  Placed child = with_qp(listening);
  EXPECT_CALL(*child.endpoint, accept(AllOf(Field(&ConnectionParameters::responder_resources, 5),
                                            Field(&ConnectionParameters::initiator_depth, 3))));

  EXPECT_EQ(errno_of(child.id->accept(nullptr)), 0);
  EXPECT_TRUE(child.id->destroy_qp());
}

TEST_F(IdAccept, NullWithoutAQpIsRefused) {
  Placed listening = listener();
  Placed child = incoming(listening);

  EXPECT_EQ(errno_of(child.id->accept(nullptr)), EINVAL);
  EXPECT_EQ(errno_of(child.id->accept(&plain_)), 0);
}

TEST_F(IdAccept, ARefusedReplyFlushesTheQpAndMayNotBeMistakenForSuccess) {
  Placed listening = listener();
  Placed child = with_qp(listening);
  EXPECT_CALL(*child.endpoint, accept).WillOnce(Return(errno_code(EINVAL)));

  EXPECT_EQ(errno_of(child.id->accept(&plain_)), EINVAL);  // for example 197 bytes: REJ 28 went out

  EXPECT_EQ(child.id->qp()->state, IBV_QPS_ERR);
  EXPECT_TRUE(child.id->destroy_qp());
}

TEST_F(IdAccept, AWithdrawnRequestFailsAtTheQpAndSendsNothing) {
  Placed listening = listener();
  Placed child = with_qp(listening);
  ON_CALL(*child.endpoint, qp_transition)
      .WillByDefault(Return(Result<transport::QpTransition>(errno_code(EINVAL))));
  EXPECT_CALL(*child.endpoint, accept).Times(0);

  EXPECT_EQ(errno_of(child.id->accept(&plain_)), EINVAL);
  EXPECT_TRUE(child.id->destroy_qp());
}

TEST_F(IdAccept, AfterTheAcceptTheIdHearsItsEvents) {
  Placed listening = listener();
  Placed child = incoming(listening);
  EXPECT_TRUE(child.id->accept(&plain_));

  transport_.raise(*child.endpoint, RDMA_CM_EVENT_ESTABLISHED);

  EXPECT_THAT(next(), AllOf(EventIs(RDMA_CM_EVENT_ESTABLISHED), HasNoPrivateData(), HasDepths(0, 0),
                            ConcernsId(child.id.get())));
  EXPECT_EQ(child.id->ledger().fetched, 1u) << "charged to the child, not to the listener";
}

TEST_F(IdAccept, RejectCarriesTheDataAndTheReason) {
  Placed listening = listener();
  Placed plain = incoming(listening);
  Placed vendor = incoming(listening);
  const std::vector<std::uint8_t> why{1, 2, 3};
  const auto says_why = [&](std::uint8_t, std::span<const std::uint8_t> data) {
    EXPECT_TRUE(std::equal(data.begin(), data.end(), why.begin(), why.end()));
    return Result<void>();
  };
  EXPECT_CALL(*plain.endpoint, reject(28, _)).WillOnce(says_why);
  EXPECT_CALL(*vendor.endpoint, reject(35, _)).WillOnce(says_why);

  EXPECT_EQ(errno_of(plain.id->reject(why)), 0);
  EXPECT_EQ(errno_of(vendor.id->reject_ece(why)), 0);
}

TEST_F(IdAccept, TooMuchDataToRejectWithMayBeCorrected) {
  Placed listening = listener();
  Placed child = incoming(listening);
  EXPECT_CALL(*child.endpoint, reject)
      .WillRepeatedly([](std::uint8_t, std::span<const std::uint8_t> data) {
        return data.size() > 148 ? Result<void>(errno_code(EINVAL)) : Result<void>();
      });
  const std::vector<std::uint8_t> data(149);

  EXPECT_EQ(errno_of(child.id->reject(data)), EINVAL);
  EXPECT_EQ(errno_of(child.id->reject(std::span(data).first(148))), 0);
}

}  // namespace
}  // namespace anyrdma::cm::testing
