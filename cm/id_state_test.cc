// Every cell of both state tables, through an Id that reached its state honestly.
#include <array>
#include <tuple>

#include "cm/cm_fixture.h"
#include "cm/upcall_table.h"

namespace anyrdma::cm::testing {
namespace {

std::string cell_name(std::string_view what, State state) {
  std::string name = std::string(what) + "_in_" + std::string(to_string(state));
  for (char& letter : name) {
    if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
  }
  return name;
}

// All but destroy, which ends the id: EveryState.
constexpr std::size_t kCallCount = kOperationCount - 1;
static_assert(static_cast<std::size_t>(Operation::kDestroy) == kCallCount);

// --- calls --------------------------------------------------------------------------------------

class EveryCall : public CmTest,
                  public ::testing::WithParamInterface<std::tuple<std::size_t, std::size_t>> {
 protected:
  [[nodiscard]] Operation operation() const {
    return static_cast<Operation>(std::get<0>(GetParam()));
  }
  [[nodiscard]] State state() const { return static_cast<State>(std::get<1>(GetParam())); }

  /// The call with arguments that are right in every state.
  Result<void> call(Id& id) {
    const rdma_conn_param param{};
    const int one = 1;
    const int zero = 0;
    const std::uint8_t byte = 1;
    switch (operation()) {
      case Operation::kBind:
        return id.bind(raw(here_));
      case Operation::kResolveAddr:
        return id.resolve_addr(nullptr, raw(there_), kTimeout);
      case Operation::kResolveRoute:
        return id.resolve_route(kTimeout);
      case Operation::kListen:
        return id.listen(0);
      case Operation::kConnect:
        return id.connect(&param);
      case Operation::kEstablish:
        return id.establish();
      case Operation::kAccept:
        return id.accept(&param);
      case Operation::kReject:
        return id.reject({});
      case Operation::kDisconnect:
        return id.disconnect();
      case Operation::kNotify:
        return id.notify(IBV_EVENT_COMM_EST);
      case Operation::kJoinMulticast:
        return id.join_multicast(raw(group_), nullptr);
      case Operation::kLeaveMulticast:
        return id.leave_multicast(raw(group_));
      case Operation::kCreateQp: {
        ibv_qp_init_attr attributes = qp_attributes();
        Result<void> made = id.create_qp(nullptr, &attributes);
        if (made) {
          EXPECT_TRUE(id.destroy_qp());
        }
        return made;
      }
      case Operation::kInitQpAttr: {
        auto step = id.init_qp_attr(IBV_QPS_INIT);
        if (!step) return step.error();
        return {};
      }
      case Operation::kSetTos:
        return set(id, RDMA_OPTION_ID_TOS, byte);
      case Operation::kSetReuseAddr:
        return set(id, RDMA_OPTION_ID_REUSEADDR, one);
      case Operation::kClearReuseAddr:
        return set(id, RDMA_OPTION_ID_REUSEADDR, zero);
      case Operation::kSetAfOnly:
        return set(id, RDMA_OPTION_ID_AFONLY, one);
      case Operation::kSetAckTimeout:
        return set(id, RDMA_OPTION_ID_ACK_TIMEOUT, byte);
      case Operation::kSetIbPath: {
        const std::array<std::uint8_t, sizeof(ibv_path_data)> path{};
        return id.set_option(RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, path);
      }
      case Operation::kMigrate:
        return id.migrate(*channel_);
      case Operation::kDestroy:
        break;
    }
    ADD_FAILURE() << "destroy has its own test";
    return {};
  }

  /// A fresh id has had no address to join from.
  [[nodiscard]] bool leaves_without_having_joined() const {
    return operation() == Operation::kLeaveMulticast && state() == State::kIdle;
  }
  [[nodiscard]] int refusal(const OperationRow& row) const {
    return leaves_without_having_joined() ? EADDRNOTAVAIL : row.error;
  }

  template <class T>
  static Result<void> set(Id& id, int option, const T& value) {
    return id.set_option(RDMA_OPTION_ID, option,
                         {reinterpret_cast<const std::uint8_t*>(&value), sizeof value});
  }

  static void let_everything_fail(MockEndpoint& endpoint) {
    const Result<void> failure = errno_code(EIO);
    ON_CALL(endpoint, bind).WillByDefault(Return(failure));
    ON_CALL(endpoint, listen).WillByDefault(Return(failure));
    ON_CALL(endpoint, resolve_address).WillByDefault(Return(failure));
    ON_CALL(endpoint, resolve_route).WillByDefault(Return(failure));
    ON_CALL(endpoint, connect).WillByDefault(Return(failure));
    ON_CALL(endpoint, accept).WillByDefault(Return(failure));
    ON_CALL(endpoint, establish).WillByDefault(Return(failure));
    ON_CALL(endpoint, reject).WillByDefault(Return(failure));
    ON_CALL(endpoint, disconnect).WillByDefault(Return(failure));
    ON_CALL(endpoint, notify).WillByDefault(Return(failure));
    ON_CALL(endpoint, join_multicast).WillByDefault(Return(failure));
    ON_CALL(endpoint, leave_multicast).WillByDefault(Return(failure));
    ON_CALL(endpoint, set_option).WillByDefault(Return(failure));
    ON_CALL(endpoint, qp_transition)
        .WillByDefault(Return(Result<transport::QpTransition>(errno_code(EIO))));
  }
};

TEST_P(EveryCall, FollowsItsRowWhenTheTransportAgrees) {
  const OperationRow& row = row_of(operation(), state());
  Placed placed = place(state());

  EXPECT_EQ(errno_of(call(*placed.id)), refusal(row));

  EXPECT_EQ(placed.id->state(), row.success);
}

TEST_P(EveryCall, FollowsItsRowWhenTheTransportRefuses) {
  const OperationRow& row = row_of(operation(), state());
  Placed placed = place(state());
  if (state() != State::kDestroying) let_everything_fail(*placed.endpoint);
  const bool asks_below = operation() != Operation::kMigrate && row.verdict == Verdict::kAllow &&
                          !leaves_without_having_joined();

  EXPECT_EQ(errno_of(call(*placed.id)), asks_below ? EIO : refusal(row));

  EXPECT_EQ(placed.id->state(), row.failure);
}

INSTANTIATE_TEST_SUITE_P(Cells, EveryCall,
                         ::testing::Combine(::testing::Range<std::size_t>(0, kCallCount),
                                            ::testing::Range<std::size_t>(0, kStateCount)),
                         [](const auto& test) {
                           return cell_name(
                               to_string(static_cast<Operation>(std::get<0>(test.param))),
                               static_cast<State>(std::get<1>(test.param)));
                         });

// --- destruction --------------------------------------------------------------------------------

class EveryState : public CmTest, public ::testing::WithParamInterface<std::size_t> {};

TEST_P(EveryState, CanBeDestroyedAndTakesItsEndpointAlong) {
  const State state = static_cast<State>(GetParam());
  Placed placed = place(state);
  const bool already_gone = state == State::kDestroying;
  if (!already_gone) {
    EXPECT_CALL(*placed.endpoint, destroyed());
  }

  EXPECT_EQ(errno_of(Id::destroy(std::move(placed.id))), 0);
}

INSTANTIATE_TEST_SUITE_P(States, EveryState, ::testing::Range<std::size_t>(0, kStateCount),
                         [](const auto& test) {
                           return cell_name("destroy", static_cast<State>(test.param));
                         });

// --- events -------------------------------------------------------------------------------------

class EveryEvent : public CmTest,
                   public ::testing::WithParamInterface<std::tuple<std::size_t, std::size_t>> {
 protected:
  [[nodiscard]] rdma_cm_event_type type() const {
    return static_cast<rdma_cm_event_type>(std::get<0>(GetParam()));
  }
  [[nodiscard]] State state() const { return static_cast<State>(std::get<1>(GetParam())); }

  /// Whether the event came through, as far as the world below can tell.
  bool raise(Placed& placed) {
    // A channel's end takes the endpoint along: another one speaks to the id that is left.
    NiceMock<MockEndpoint> stand_in(*placed.handler);
    MockEndpoint& endpoint = state() == State::kDestroying ? stand_in : *placed.endpoint;
    if (type() == RDMA_CM_EVENT_CONNECT_REQUEST) return transport_.request(endpoint) != nullptr;
    transport_.raise(endpoint,
                     {.type = type(), .private_data = {}, .membership = kPlacedMembership});
    return row_of(type(), state()).delivery == Delivery::kDeliver;
  }
};

TEST_P(EveryEvent, FollowsItsRow) {
  const UpcallRow& row = row_of(type(), state());
  Placed placed = place(state());

  const bool delivered = raise(placed);

  EXPECT_EQ(delivered, row.delivery == Delivery::kDeliver);

  EXPECT_EQ(placed.id->state(), row.next);
  if (row.delivery == Delivery::kDeliver) {
    EXPECT_THAT(next(), EventIs(type()));
  }
  EXPECT_TRUE(channel_is_empty());
}

INSTANTIATE_TEST_SUITE_P(Cells, EveryEvent,
                         ::testing::Combine(::testing::Range<std::size_t>(0, kEventTypeCount),
                                            ::testing::Range<std::size_t>(0, kStateCount)),
                         [](const auto& test) {
                           return cell_name(
                               transport::short_event_name(
                                   static_cast<rdma_cm_event_type>(std::get<0>(test.param))),
                               static_cast<State>(std::get<1>(test.param)));
                         });

}  // namespace
}  // namespace anyrdma::cm::testing
