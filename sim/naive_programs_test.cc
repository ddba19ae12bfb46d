// Programs that take one thing for granted that no network promises; exploring finds out, and with
// what: links that fail back, neighbours that have news, rails, routes, answers that take their
// time, numbers that a peer made up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/explore/explore.h"
#include "sim/testing/program.h"

namespace anyrdma::sim::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

enum class Belief {
  kNone,
  kEveryChangeIsTold,     ///< of the own link, to every id
  kUnreachableComesOnce,  ///< per connection
  kOneRailIsEnough,
  kResolvedMeansRouted,
  kAnswersComeInTwoMinutes,
  kPeersKnowTheirLimits,
};

constexpr std::string_view kMenu =
    "at 3s: fail-over client eth0\n"
    "at 5s: fail-back client eth0\n"
    "at 2s: fail-over server eth0\n"
    "at 4s: confirm-neighbour client 10.0.0.2\n"
    "at 6s: forget-neighbour client 10.0.0.2\n"
    "at 0s: cut-rail server eth0\n"
    "on client routing 1: unrouted ETIMEDOUT\n"
    "on server request 1: mra 24\n"
    "on server->client REP all: lose\n"
    "on client->server REQ 1: alter responder_resources 255\n";

class Client {
 public:
  Client(Host& host, Host& server, Belief belief)
      : belief_(belief), host_(host), server_(server), program_(host) {}

  void run() {
    const std::size_t rails = belief_ == Belief::kOneRailIsEnough ? 1 : 2;
    for (std::size_t rail = 0; rail < rails; ++rail) {
      const auto id = program_.make_id();
      if (!connect(*id, rail)) continue;
      is_on_the_bond_ = rail == 0;
      stay(10s);
      (void)id->disconnect().has_value();
      return;
    }
  }
  /// Empty: nothing.
  [[nodiscard]] std::string problem() const {
    if (!problem_.empty()) return problem_;
    const bool is_on_second = host_.interfaces()[0].mac[1] != 0;
    if (belief_ == Belief::kEveryChangeIsTold && is_on_the_bond_ && on_second_ != is_on_second)
      return "it believes in the wrong link\n";
    return {};
  }

 private:
  [[nodiscard]] bool wait(rdma_cm_event_type wanted, bool stubborn = false) {
    while (std::optional<cm::Event> event = program_.next()) {
      heed(*event);
      if (event->type() == wanted) return true;
      if (event->type() == RDMA_CM_EVENT_ADDR_CHANGE || stubborn) continue;
      return false;
    }
    return false;
  }
  void heed(const cm::Event& event) {
    if (event.type() == RDMA_CM_EVENT_ADDR_CHANGE) on_second_ = !on_second_;
    if (event.type() != RDMA_CM_EVENT_UNREACHABLE) return;
    if (++unreachable_ == 2 && belief_ == Belief::kUnreachableComesOnce)
      problem_ = "unreachable twice\n";
  }
  [[nodiscard]] bool connect(cm::Id& id, std::size_t rail) {
    const sockaddr_storage to = server_.address(kPort, rail).to_sockaddr();
    unreachable_ = 0;
    if (!id.resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&to), kPatience)) return false;
    if (!wait(RDMA_CM_EVENT_ADDR_RESOLVED)) {
      if (belief_ == Belief::kOneRailIsEnough) problem_ = "nobody was reached\n";
      return false;
    }
    if (!id.resolve_route(kPatience)) return false;
    if (!wait(RDMA_CM_EVENT_ROUTE_RESOLVED, belief_ == Belief::kResolvedMeansRouted)) return false;
    rdma_conn_param param = parameters("");
    param.qp_num = 0x100 + static_cast<std::uint32_t>(rail);
    const Instant asked = host_.world().now();
    if (!id.connect(&param)) return false;
    const bool answered = wait(RDMA_CM_EVENT_CONNECT_RESPONSE);
    if (belief_ == Belief::kAnswersComeInTwoMinutes && host_.world().now() - asked > 120s)
      problem_ = "no answer in two minutes\n";
    return answered && id.establish().has_value();
  }
  void stay(Duration time) {
    for (Duration passed{}; passed < time && host_.sleep(100ms); passed += 100ms) {
      while (Result<cm::Event> event = program_.channel().try_get()) heed(*event);
    }
  }

  Belief belief_;
  Host& host_;
  Host& server_;
  Program program_;
  bool is_on_the_bond_ = false;
  bool on_second_ = false;
  int unreachable_ = 0;
  std::string problem_;
};

/// Empty: no problem.
std::string serve(Host& host, Belief belief) {
  Program program(host);
  const auto listener = program.listen(Address::ipv4(0, kPort));
  std::vector<std::unique_ptr<cm::Id>> ids;
  while (std::optional<cm::Event> event = program.next()) {
    if (event->type() == RDMA_CM_EVENT_DISCONNECTED) (void)event->id().disconnect().has_value();
    if (event->type() != RDMA_CM_EVENT_CONNECT_REQUEST) continue;
    constexpr std::uint8_t kRoom = 16;  // one place for each
    if (belief == Belief::kPeersKnowTheirLimits && event->conn().initiator_depth > kRoom)
      return "a peer that asks for more than there is room for\n";
    rdma_conn_param param = parameters("");
    param.qp_num = 0x800 + static_cast<std::uint32_t>(ids.size());
    (void)ids.emplace_back(event->take_request())->accept(&param).has_value();
  }
  return {};
}

Scenario scenario_of(Belief belief) {
  return [belief](const Trial& trial) {
    std::string problem;
    std::string server_problem;
    Outcome outcome;
    {
      World world(trial.seed, trial.options());
      const HostOptions two_rails{
          .interfaces = {{.addresses = {"10.0.0.1"}}, {.addresses = {"10.0.1.1"}}}};
      Host& client = world.add_host("client", two_rails);
      Host& server = world.add_host(
          "server", {.interfaces = {{.addresses = {"10.0.0.2"}}, {.addresses = {"10.0.1.2"}}}});
      EXPECT_TRUE(world.faults().inject(trial.plan)) << trial.plan.to_string();
      server.spawn(
          "serve", [&] { server_problem = serve(server, belief); }, Ending::kMayServe);
      client.spawn("ask", [&] {
        Client self(client, server, belief);
        self.run();
        problem = self.problem();
      });
      outcome = finish(world);
      if (outcome.problem.empty()) outcome.problem = problem + server_problem;
    }
    return outcome;
  };
}

Exploration explore_belief(Belief belief) {
  SampleOptions options;
  options.menu = FaultPlan::parse(kMenu).value().faults;
  options.runs = 200;
  options.faults_max = 5;
  return explore_samples(scenario_of(belief), options);
}

TEST(NaivePrograms, WhoeverBelievesNothingComesThrough) {
  const Exploration found = explore_belief(Belief::kNone);

  EXPECT_FALSE(found.failure) << found.failure->to_string();
  for (const auto& [fault, runs] : found.fired) EXPECT_GT(runs, 0u) << fault;
}

struct Found {
  Belief belief;
  const char* problem;
  const char* fault;
};

class Naive : public ::testing::TestWithParam<Found> {};

TEST_P(Naive, IsFoundWithTheFaultThatItDoesNotExpect) {
  const Exploration found = explore_belief(GetParam().belief);

  ASSERT_TRUE(found.failure);
  EXPECT_THAT(found.failure->outcome.problem, HasSubstr(GetParam().problem));
  EXPECT_THAT(found.failure->trial.plan.to_string(), HasSubstr(GetParam().fault));
}

INSTANTIATE_TEST_SUITE_P(
    Beliefs, Naive,
    ::testing::Values(
        Found{Belief::kEveryChangeIsTold, "the wrong link", "fail-back client eth0"},
        Found{Belief::kUnreachableComesOnce, "unreachable twice", "-neighbour client 10.0.0.2"},
        Found{Belief::kOneRailIsEnough, "nobody was reached", "cut-rail server eth0"},
        Found{Belief::kResolvedMeansRouted, "client/ask waits for an event", "unrouted ETIMEDOUT"},
        Found{Belief::kAnswersComeInTwoMinutes, "no answer in two minutes", "mra 24"},
        Found{Belief::kPeersKnowTheirLimits, "more than there is room",
              "alter responder_resources 255"}));

}  // namespace
}  // namespace anyrdma::sim::testing
