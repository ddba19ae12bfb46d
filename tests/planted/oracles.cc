#include "tests/planted/oracles.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <chrono>

#include "sim/world.h"
#include "tests/planted/courier.h"

namespace anyrdma::planted {
namespace {

using namespace std::chrono_literals;

/// Faults come until then: longer than any retry lasts, so that who gave up has given up.
constexpr auto kTrouble = 600s;

class World {
 public:
  World(const sim::Trial& trial, const Street& street)
      : quiet_(trial.plan.faults.empty() || street.harmless), street_(street), world_(trial.seed) {
    EXPECT_TRUE(world_.faults().inject(trial.plan)) << trial.plan.to_string();
    start_server(server_, journal_);
    for (std::uint32_t i = 0; i < street.clients; ++i) {
      visit({.client = i, .rounds = street.rounds, .attempts = street.harmless ? 1 : 2});
    }
    if (street.unwelcome) visit({.client = street.clients, .unwelcome = true});
  }

  sim::Outcome run() {
    world_.run_for(kTrouble);
    sim::heal(world_);
    sim::Outcome outcome = sim::finish(world_);
    if (outcome.problem.empty() && quiet_) check_all_served();
    if (outcome.problem.empty()) outcome.problem = visit_once_more();
    outcome.problem += journal_.complaints;
    return outcome;
  }

 private:
  void visit(const Visit& visit) { start_client(client_, server_, visit, journal_); }

  void check_all_served() {
    const int parcels = static_cast<int>(street_.clients) * street_.rounds;
    const int clients = static_cast<int>(street_.clients);
    if (journal_.stamped != clients) journal_.complain("not all clients have read the stamp");
    if (journal_.delivered != parcels) journal_.complain("not all parcels were delivered");
    // Who is impatient asks again.
    if (street_.harmless ? journal_.taken_in < parcels : journal_.taken_in != parcels) {
      journal_.complain("the server had another number of parcels");
    }
    if (street_.unwelcome && journal_.refused != 1) journal_.complain("nobody was refused");
  }

  /// Everything passes again, so whoever comes now must be served.
  std::string visit_once_more() {
    if (!journal_.open || client_.devices().names().empty() || server_.devices().names().empty())
      return {};
    const int before = journal_.delivered;
    visit({.client = 99, .rounds = 1});
    sim::Outcome outcome = sim::finish(world_);
    if (journal_.delivered != before + 1) journal_.complain("after healing nobody is served");
    return outcome.problem;
  }

  bool quiet_;
  Street street_;
  Journal journal_;  // before the world: programs write in it until the world has ended
  sim::World world_;
  sim::Host& server_ = world_.add_host("server", {"10.0.0.1"});
  sim::Host& client_ = world_.add_host("client", {"10.0.0.2"});
};

}  // namespace

sim::Outcome judged(const std::function<sim::Outcome()>& run) {
  ::testing::TestPartResultArray findings;
  sim::Outcome outcome;
  {
    using Reporter = ::testing::ScopedFakeTestPartResultReporter;
    const Reporter reporter(Reporter::INTERCEPT_ALL_THREADS, &findings);
    outcome = run();
  }
  for (int i = 0; i < findings.size(); ++i) {
    const ::testing::TestPartResult& finding = findings.GetTestPartResult(i);
    if (finding.failed()) outcome.problem += std::string(finding.message()) + "\n";
  }
  return outcome;
}

sim::Outcome run_street(const sim::Trial& trial, const Street& street) {
  return judged([&] { return World(trial, street).run(); });
}

}  // namespace anyrdma::planted
