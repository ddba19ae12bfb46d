#include "check/legality.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "transport/fault/plan/scalars.h"
#include "transport/fault/plan/words.h"

namespace anyrdma::check {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Step = transport::EventObserver::Step;

/// A life as text: "resolve_addr" is a call, "+ADDR_RESOLVED" is queued, "-ADDR_RESOLVED" fetched.
class LegalityTest : public ::testing::Test {
 protected:
  static rdma_cm_event_type type_of(std::string_view name) {
    rdma_cm_event_type type{};
    EXPECT_EQ(fault::parse_word("event", name, type), "");
    return type;
  }

  void live(const std::vector<std::string_view>& steps, std::uint64_t id = 1) {
    for (const std::string_view each : steps) {
      if (each.front() == '+') {
        legality.on_event("h", Step::kQueued, id, 0, type_of(each.substr(1)), service);
      } else if (each.front() == '-') {
        legality.on_event("h", Step::kFetched, id, 0, type_of(each.substr(1)), service);
      } else {
        legality.on_call("h", id, each, 0);
      }
    }
  }
  void route() { live({"resolve_addr", "+ADDR_RESOLVED", "resolve_route", "+ROUTE_RESOLVED"}); }
  /// An incoming id 2 of the listener 1.
  void request() {
    live({"listen"});
    legality.on_event("h", Step::kQueued, 2, 1, RDMA_CM_EVENT_CONNECT_REQUEST, service);
  }

  Service service = Service::kConnected;
  Legality legality;
};

TEST_F(LegalityTest, AcceptsAWholeActiveLife) {
  route();
  live({"connect", "+CONNECT_RESPONSE", "-ADDR_RESOLVED", "-ROUTE_RESOLVED", "-ESTABLISHED",
        "disconnect", "+DISCONNECTED", "+TIMEWAIT_EXIT", "-DISCONNECTED", "-TIMEWAIT_EXIT",
        "destroy"});
  legality.on_rest();
  legality.on_end();

  EXPECT_THAT(legality.violations(), IsEmpty());
}

TEST_F(LegalityTest, AcceptsAWholePassiveLife) {
  request();
  live({"accept", "+ESTABLISHED", "+DISCONNECTED", "+TIMEWAIT_EXIT", "destroy"}, 2);
  live({"destroy"});
  legality.on_end();

  EXPECT_THAT(legality.violations(), IsEmpty());
}

TEST_F(LegalityTest, AcceptsAnUnreachableAfterEstablishedOnTheActiveSideOnly) {
  route();
  live({"connect", "+CONNECT_RESPONSE", "+UNREACHABLE"});
  EXPECT_THAT(legality.violations(), IsEmpty());

  legality.on_call("g", 1, "listen", 0);
  legality.on_event("g", Step::kQueued, 2, 1, RDMA_CM_EVENT_CONNECT_REQUEST);
  legality.on_call("g", 2, "accept", 0);
  legality.on_event("g", Step::kQueued, 2, 0, RDMA_CM_EVENT_ESTABLISHED);
  legality.on_event("g", Step::kQueued, 2, 0, RDMA_CM_EVENT_UNREACHABLE);
  EXPECT_THAT(legality.violations(), ElementsAre("g#2: UNREACHABLE although it is established"));
}

TEST_F(LegalityTest, AcceptsAWholeDatagramLifeOnBothSides) {
  service = Service::kDatagram;
  route();
  live({"connect", "+UNREACHABLE", "+ESTABLISHED", "+UNREACHABLE", "destroy"});
  legality.on_event("h", Step::kQueued, 4, 3, RDMA_CM_EVENT_CONNECT_REQUEST, service);
  EXPECT_THAT(legality.violations(),
              ElementsAre("h#4: CONNECT_REQUEST from listener 3, which is idle"));
  live({"accept"}, 4);
  legality.on_rest();

  EXPECT_EQ(legality.violations().size(), 1u);
}

TEST_F(LegalityTest, ADatagramIdHearsNothingOfConnections) {
  service = Service::kDatagram;
  route();
  live({"connect", "+CONNECT_RESPONSE", "+REJECTED", "+ESTABLISHED", "+DISCONNECTED"});
  request();
  live({"accept", "+ESTABLISHED"}, 2);

  EXPECT_THAT(legality.violations(), ElementsAre("h#1: CONNECT_RESPONSE although it is asking",
                                                 "h#1: REJECTED although it is asking",
                                                 "h#1: DISCONNECTED although it is answered",
                                                 "h#2: ESTABLISHED although it is serving"));
}

TEST_F(LegalityTest, AFailedCallChangesNothing) {
  route();
  legality.on_call("h", 1, "connect", ENOMEM);

  live({"+CONNECT_RESPONSE"});

  EXPECT_THAT(legality.violations(),
              ElementsAre("h#1: CONNECT_RESPONSE although it is route resolved"));
}

struct Illegal {
  std::vector<std::string_view> steps;
  const char* violation;
};

class IllegalSequence : public LegalityTest, public ::testing::WithParamInterface<Illegal> {};

TEST_P(IllegalSequence, IsReported) {
  live(GetParam().steps);

  EXPECT_THAT(legality.violations(), ElementsAre(GetParam().violation));
}

INSTANTIATE_TEST_SUITE_P(
    All, IllegalSequence,
    ::testing::Values(
        Illegal{{"+ADDR_RESOLVED"}, "h#1: ADDR_RESOLVED although it is idle"},
        Illegal{{"resolve_addr", "+ADDR_RESOLVED", "+ADDR_RESOLVED"},
                "h#1: ADDR_RESOLVED although it is address resolved"},
        Illegal{{"resolve_addr", "+ROUTE_RESOLVED"},
                "h#1: ROUTE_RESOLVED although it is address query"},
        Illegal{{"resolve_addr", "+ADDR_RESOLVED", "+ROUTE_RESOLVED"},
                "h#1: ROUTE_RESOLVED although it is address resolved"},
        Illegal{{"connect", "+DISCONNECTED"}, "h#1: DISCONNECTED although it is connecting"},
        Illegal{{"connect", "+CONNECT_RESPONSE", "+CONNECT_RESPONSE"},
                "h#1: CONNECT_RESPONSE although it is responded"},
        Illegal{{"connect", "+CONNECT_RESPONSE", "+ESTABLISHED"},
                "h#1: ESTABLISHED although it is responded"},
        Illegal{{"connect", "+REJECTED", "+REJECTED"}, "h#1: REJECTED although it is refused"},
        Illegal{{"connect", "+REJECTED", "+DISCONNECTED"},
                "h#1: DISCONNECTED although it is refused"},
        Illegal{{"connect", "+CONNECT_RESPONSE", "+DISCONNECTED", "+DISCONNECTED"},
                "h#1: DISCONNECTED although it is disconnected"},
        Illegal{{"connect", "+CONNECT_RESPONSE", "+TIMEWAIT_EXIT"},
                "h#1: TIMEWAIT_EXIT although it is responded"},
        Illegal{
            {"connect", "+CONNECT_RESPONSE", "+DISCONNECTED", "+TIMEWAIT_EXIT", "+TIMEWAIT_EXIT"},
            "h#1: TIMEWAIT_EXIT although it is over"},
        Illegal{{"connect", "+DEVICE_REMOVAL", "+DEVICE_REMOVAL"},
                "h#1: DEVICE_REMOVAL although it is removed"},
        Illegal{{"connect", "+DEVICE_REMOVAL", "+REJECTED"},
                "h#1: REJECTED although it is removed"},
        Illegal{{"connect", "+DEVICE_REMOVAL", "connect"},
                "h#1: connect succeeded although it is removed"},
        Illegal{{"connect", "destroy", "+REJECTED"}, "h#1: REJECTED although it is destroyed"},
        Illegal{{"connect", "+REJECTED", "destroy", "-REJECTED"},
                "h#1: REJECTED fetched, but next in its queue is nothing"},
        Illegal{{"listen", "+ESTABLISHED"}, "h#1: ESTABLISHED although it is listening"},
        Illegal{{"+MULTICAST_JOIN"}, "h#1: MULTICAST_JOIN although it is idle"},
        Illegal{{"resolve_addr", "-ADDR_RESOLVED"},
                "h#1: ADDR_RESOLVED fetched, but next in its queue is nothing"},
        Illegal{{"resolve_addr", "+ADDR_RESOLVED", "resolve_route", "+ROUTE_RESOLVED",
                 "-ROUTE_RESOLVED"},
                "h#1: ROUTE_RESOLVED fetched, but next in its queue is ADDR_RESOLVED"},
        Illegal{{"connect", "+CONNECT_RESPONSE", "-REJECTED"},
                "h#1: REJECTED fetched, but next in its queue is CONNECT_RESPONSE"}));

TEST_F(LegalityTest, ARequestNeedsAListenerAndANewId) {
  legality.on_event("h", Step::kQueued, 2, 1, RDMA_CM_EVENT_CONNECT_REQUEST);
  live({"listen"});
  legality.on_event("h", Step::kQueued, 2, 1, RDMA_CM_EVENT_CONNECT_REQUEST);

  EXPECT_THAT(legality.violations(),
              ElementsAre("h#2: CONNECT_REQUEST from listener 1, which is idle",
                          "h#2: CONNECT_REQUEST with an id that is not new"));
}

TEST_F(LegalityTest, ARequestThatNobodyAcceptedHearsNothing) {
  request();
  live({"+REJECTED"}, 2);

  EXPECT_THAT(legality.violations(), ElementsAre("h#2: REJECTED although it is requested"));
}

TEST_F(LegalityTest, AfterAConnectErrorTheEndIsSwallowed) {
  route();
  live({"-ADDR_RESOLVED", "-ROUTE_RESOLVED", "connect", "+CONNECT_RESPONSE", "-CONNECT_ERROR",
        "+DISCONNECTED", "+TIMEWAIT_EXIT", "-TIMEWAIT_EXIT"});

  EXPECT_THAT(legality.violations(), IsEmpty());
}

TEST_F(LegalityTest, AQuestionThatNobodyAnswersIsReportedOnce) {
  live({"resolve_addr"});
  legality.on_rest();
  legality.on_rest();

  EXPECT_THAT(legality.violations(),
              ElementsAre(HasSubstr("without an answer to its address query")));
}

TEST_F(LegalityTest, AnAcceptThatNobodyAnswersIsReported) {
  request();
  live({"accept"}, 2);
  legality.on_rest();

  EXPECT_THAT(legality.violations(), ElementsAre(HasSubstr("without an answer to its accepted")));
}

TEST_F(LegalityTest, AConnectThatNobodyAnswersIsReported) {
  route();
  live({"connect"});
  legality.on_rest();

  EXPECT_THAT(legality.violations(), ElementsAre(HasSubstr("without an answer to its connecting")));
}

TEST_F(LegalityTest, AConnectThatWasGivenUpIsAnswered) {
  route();
  live({"connect", "+UNREACHABLE"});
  legality.on_rest();

  EXPECT_THAT(legality.violations(), IsEmpty());
}

TEST_F(LegalityTest, AQuestionOfADatagramServiceWantsAnAnswer) {
  service = Service::kDatagram;
  route();
  live({"connect"});
  legality.on_rest();

  EXPECT_THAT(legality.violations(), ElementsAre(HasSubstr("without an answer to its asking")));
}

TEST_F(LegalityTest, ADisconnectLeadsToDisconnectedAndThenToTheEndOfTimeWait) {
  route();
  live({"connect", "+CONNECT_RESPONSE", "establish", "disconnect"});
  legality.on_rest();
  live({"+DISCONNECTED"});
  request();
  live({"accept", "+ESTABLISHED", "+DISCONNECTED", "disconnect"}, 2);
  legality.on_rest();

  EXPECT_THAT(legality.violations(), ElementsAre(HasSubstr("without an answer to its disconnect"),
                                                 HasSubstr("without an answer to its time wait")));
}

TEST_F(LegalityTest, ADisconnectBeforeTheConnectionHasNoEffectToWaitFor) {
  route();
  live({"connect", "+CONNECT_RESPONSE", "disconnect"});
  legality.on_rest();

  EXPECT_THAT(legality.violations(), IsEmpty());
}

TEST_F(LegalityTest, AnIdThatIsNeverDestroyedLeaks) {
  live({"listen"});
  legality.on_end();

  EXPECT_THAT(legality.violations(), ElementsAre("h#1: never destroyed"));
}

TEST(LegalityPage, ShowsTheTables) {
  std::ifstream page("docs/legality.md");
  const std::string text{std::istreambuf_iterator<char>(page), std::istreambuf_iterator<char>()};

  for (const Service each : {Service::kAny, Service::kConnected, Service::kDatagram}) {
    const std::string tables = legality_tables(each);
    EXPECT_NE(text.find(tables), std::string::npos) << "docs/legality.md must hold:\n" << tables;
  }
}

TEST(LegalityPage, CitesWhereEachFaultIsSeen) {
  std::ifstream page("docs/legality.md");
  const std::string text{std::istreambuf_iterator<char>(page), std::istreambuf_iterator<char>()};

  for (const std::string_view kind : fault::action_kinds()) {
    EXPECT_THAT(text, HasSubstr("\n| `" + std::string(kind) + "` | "));
  }
}

}  // namespace
}  // namespace anyrdma::check
