#include "sim/testing/kit.h"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace anyrdma::testing {
namespace {

using sim::testing::kPort;
using sim::testing::read_settings;
using sim::testing::Settings;
using ::testing::HasSubstr;
using ::testing::Not;

/// A server that accepts whoever comes, and a client that connects.
class Connecting : public SimTest {
 protected:
  Connecting() {
    serve([this] { accept_one(); });
  }
  void accept_one() {
    Program program(server());
    const auto listener = program.listen(server().address(kPort));
    const auto id = program.expect_request();
    if (!id) return;
    Pipe pipe(*id);
    const rdma_conn_param answer = parameters("welcome");
    if (!id->accept(&answer)) return;
    while (program.next()) continue;
  }
  /// Calls `check` with the client's channel after connect().
  template <class Check>
  void connect_and(Check check) {
    ask([this, check] {
      Program program(client());
      const auto id = program.resolve(server().address(kPort));
      Pipe pipe(*id);
      const rdma_conn_param request = parameters("hello");
      id->connect(&request).value();
      check(program.channel());
      (void)id->disconnect().has_value();
    });
    run();
  }
};

TEST_F(Connecting, EventuallyEstablishes) {
  connect_and([](cm::EventChannel& channel) { EXPECT_THAT(&channel, EventuallyEstablished()); });
}

TEST_F(Connecting, ThatIsRefusedDoesNotEstablish) {
  inject("on server request 1: reject 28 6e6f");

  connect_and([](cm::EventChannel& channel) {
    ::testing::StringMatchResultListener why;
    EXPECT_FALSE(::testing::ExplainMatchResult(EventuallyEstablished(), &channel, &why));
    EXPECT_THAT(why.str(), HasSubstr("REJECTED, status 28"));
  });
}

TEST_F(Connecting, EventsMatchByTypeStatusAndData) {
  inject(R"({"faults": [{"when": {"on": "request", "host": "server", "occurrence": 1},
                         "then": {"do": "reject", "reason": 28, "data": "6e6f"}}]})");

  connect_and([](cm::EventChannel& channel) {
    const auto event = channel.get();
    ASSERT_TRUE(event);
    EXPECT_THAT(*event, EventIs(RDMA_CM_EVENT_REJECTED, 28));
    EXPECT_THAT(*event, Not(EventIs(RDMA_CM_EVENT_REJECTED, 8)));
    EXPECT_THAT(*event, HasPrivateData("no"));
    EXPECT_THAT(*event, Not(HasPrivateData("not this")));
  });
}

TEST_F(Connecting, NothingMoreToComeIsSaid) {
  ask([this] {
    Program program(client());
    ::testing::StringMatchResultListener why;
    EXPECT_FALSE(::testing::ExplainMatchResult(EventuallyEstablished(), &program.channel(), &why));
    EXPECT_THAT(why.str(), HasSubstr("no event to come"));
  });
  EXPECT_NONFATAL_FAILURE(run(), "client/main waits for an event");
}

using WrongPlan = SimTest;

TEST_F(WrongPlan, FailsTheTestWithItsLine) {
  EXPECT_NONFATAL_FAILURE(inject("# one\nat once: lose\n"), "line 2: ");
  EXPECT_NONFATAL_FAILURE(inject("on nobody request 1: overflow"), "line 1: no host 'nobody'");
  EXPECT_NONFATAL_FAILURE(inject("{}"), "line 1: ");
}

TEST(SimSettings, CommandLineWinsOverTheEnvironment) {
  const std::vector<std::string> words{"test", "--anyrdma_seed=9", "--gtest_color=no"};

  EXPECT_EQ(read_settings(words, "7", "3"), (Settings{.seed = 9, .runs = 3}));
  EXPECT_EQ(read_settings({}, nullptr, nullptr), (Settings{.seed = 1, .runs = 1}));
}

TEST(SimSettings, RecordingsAreWantedInADirectory) {
  const std::vector<std::string> words{"test", "--anyrdma_record=here"};

  EXPECT_EQ(read_settings(words, nullptr, nullptr, "there").record, "here");
  EXPECT_EQ(read_settings({}, nullptr, nullptr, "there").record, "there");
  EXPECT_EQ(read_settings({}, nullptr, nullptr).record, "");
}

TEST(SimSettings, WhatIsNoNumberIsAProblem) {
  const std::vector<std::string> no_value{"test", "--anyrdma_runs"};

  EXPECT_THAT(read_settings({}, "many", nullptr).problem, HasSubstr("ANYRDMA_SEED is many"));
  EXPECT_THAT(read_settings({}, "-1", nullptr).problem, HasSubstr("2^64"));
  EXPECT_THAT(read_settings({}, nullptr, "0").problem, HasSubstr("from 1"));
  EXPECT_EQ(read_settings({}, nullptr, "0").runs, 1);
  EXPECT_THAT(read_settings(no_value, nullptr, nullptr).problem, HasSubstr("--anyrdma_runs"));
}

}  // namespace
}  // namespace anyrdma::testing
