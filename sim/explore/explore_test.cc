// Searching for the faults that break a program, with programs that have a bug on purpose.
#include "sim/explore/explore.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

#include "sim/testing/program.h"

namespace anyrdma::sim::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Options {
  bool heeds_removal = true;
  bool keeps_the_last = false;
  std::uint32_t connections = 1;
};

/// A client or server that gives up at the first thing that is not as it should be.
class Careful {
 public:
  Careful(Host& host, const Options& options)
      : program(host),
        heeds_removal_(options.heeds_removal),
        keeps_the_last_(options.keeps_the_last) {}

  /// Waits for what a call is answered by. False: it went otherwise.
  [[nodiscard]] bool wait(const Result<void>& started, rdma_cm_event_type wanted) {
    if (!started) return false;
    while (std::optional<cm::Event> event = program.next()) {
      if (event->type() == wanted) return true;
      // The bug of an example program long ago: nobody waits for the removal of a device.
      if (event->type() == RDMA_CM_EVENT_DEVICE_REMOVAL && !heeds_removal_) continue;
      if (keeps_the_last_) last_ = std::move(*event);
      return false;
    }
    return false;
  }

  Program program;

 private:
  bool heeds_removal_;
  bool keeps_the_last_;
  cm::Event last_;  ///< the one that ended the talk, for whoever asks why
};

void talk(Host& host, const Address& server, std::uint32_t qpn, const Options& options) {
  Careful self(host, options);
  const auto id = self.program.make_id();
  const sockaddr_storage address = server.to_sockaddr();
  const auto* to = reinterpret_cast<const sockaddr*>(&address);
  if (!self.wait(id->resolve_addr(nullptr, to, kPatience), RDMA_CM_EVENT_ADDR_RESOLVED)) return;
  if (!self.wait(id->resolve_route(kPatience), RDMA_CM_EVENT_ROUTE_RESOLVED)) return;
  rdma_conn_param param = parameters("hello");
  param.qp_num = qpn;
  if (!self.wait(id->connect(&param), RDMA_CM_EVENT_CONNECT_RESPONSE)) return;
  if (!id->establish()) return;
  host.note("connected");
  if (!host.sleep(1s)) return;
  (void)self.wait(id->disconnect(), RDMA_CM_EVENT_DISCONNECTED);
}

void serve(Host& host, std::uint32_t connections) {
  Program program(host);
  const auto listener = program.listen(Address::ipv4(0, kPort));
  std::vector<std::unique_ptr<cm::Id>> ids;
  while (std::optional<cm::Event> event = program.next()) {
    if (event->type() == RDMA_CM_EVENT_CONNECT_REQUEST) {
      rdma_conn_param param = parameters("welcome");
      param.qp_num = 0x800 + static_cast<std::uint32_t>(ids.size());
      (void)ids.emplace_back(event->take_request())->accept(&param).has_value();
    }
    if (event->type() == RDMA_CM_EVENT_DISCONNECTED) (void)event->id().disconnect().has_value();
    if (ids.size() / 20 > connections) return;  // far more than retries can make
  }
}

/// A world in which clients talk to a server.
struct Talk {
  Talk(const Trial& trial, const Options& options) : world(trial.seed, trial.options()) {
    EXPECT_TRUE(world.faults().inject(trial.plan)) << trial.plan.to_string();
    server.spawn(
        "main", [this, options] { serve(server, options.connections); }, Ending::kMayServe);
    const std::uint64_t connections = trial.size("connections", options.connections);
    for (std::uint32_t i = 0; i < connections; ++i) {
      client.spawn("talk " + std::to_string(i),
                   [this, options, i] { talk(client, server.address(kPort), 0x100 + i, options); });
    }
  }

  World world;
  Host& client = world.add_host("client", {"10.0.0.1"});
  Host& server = world.add_host("server", {"10.0.0.2"});
};

Scenario talk_scenario(const Options& options) {
  return [options](const Trial& trial) {
    Talk run(trial, options);
    run.world.run_for(30s);
    heal(run.world);
    return finish(run.world);
  };
}

std::vector<FaultAction> removals() {
  return {RemoveDevice{"client", "anyrdma0"}, RemoveDevice{"server", "anyrdma0"}};
}

TEST(Explore, RemovingTheDeviceAtEveryStepFindsWhoeverDoesNotExpectIt) {
  const Exploration found = explore_steps(talk_scenario({.heeds_removal = false}),
                                          {.actions = removals(), .faults_max = 2});

  ASSERT_TRUE(found.failure);
  EXPECT_THAT(found.failure->trial.plan.to_string(), HasSubstr(": remove client anyrdma0\n"));
  EXPECT_EQ(found.failure->trial.plan.faults.size(), 1u);
  EXPECT_THAT(found.failure->outcome.problem, HasSubstr("client/talk 0 waits for an event"));
}

TEST(Explore, AFailureIsPrintedAsThePageShowsIt) {
  const Exploration found =
      explore_steps(talk_scenario({.heeds_removal = false}), {.actions = removals()});
  std::ifstream page("docs/explore.md");
  const std::string text{std::istreambuf_iterator<char>(page), std::istreambuf_iterator<char>()};

  ASSERT_TRUE(found.failure);
  EXPECT_THAT(text, HasSubstr("```\n" + found.failure->to_string() + "```\n"));
}

TEST(Explore, RemovingTheDeviceAtEveryStepFindsNothingInACarefulProgram) {
  const Exploration found =
      explore_steps(talk_scenario({}), {.actions = removals(), .faults_max = 2});

  EXPECT_FALSE(found.failure) << found.failure->to_string();
  EXPECT_GT(found.runs, 100u);
}

TEST(Explore, EightConnectionsAtOnceAreNoObstacle) {
  const Exploration careful =
      explore_steps(talk_scenario({.connections = 8}), {.actions = removals(), .faults_max = 1});
  const Exploration found = explore_steps(talk_scenario({.heeds_removal = false, .connections = 8}),
                                          {.actions = removals()});

  EXPECT_FALSE(careful.failure) << careful.failure->to_string();
  ASSERT_TRUE(found.failure);
  EXPECT_EQ(found.failure->trial.plan.faults.size(), 1u);
}

SampleOptions sample_options() {
  SampleOptions options;
  options.menu = FaultPlan::parse(
                     "on client->server packet 20%: lose\n"
                     "on server->client packet 20%: lose\n"
                     "on *->* packet 20%: duplicate\n"
                     "on *->* packet 20%: delay 5ms\n"
                     "on *->* packet 10%: corrupt\n"
                     "on server request 1: reject 28\n"
                     "on server request 1: overflow\n"
                     "at 6us: cut client<->server\n"
                     "at 500ms: port-down server anyrdma0\n"
                     "at 800ms: fail-over server eth0\n"
                     "at 900ms: remove server anyrdma0\n")
                     .value()
                     .faults;
  options.runs = 300;
  return options;
}

ExploreOptions eight_clients() {
  return {.runs = 0,
          .placed = removals(),
          .placed_max = 2,
          .workload = {{.name = "connections", .value = 8}}};
}

TEST(Explore, OneOfEightClientsHangsOverAnEventThatItKeeps) {
  const Exploration found = explore(eight_clients(), talk_scenario({.keeps_the_last = true}));

  ASSERT_TRUE(found.failure);
  EXPECT_LE(found.failure->trial.plan.faults.size(), 2u);
  EXPECT_EQ(found.failure->trial.size("connections", 0), 1u);
  EXPECT_THAT(found.failure->outcome.problem, HasSubstr(", not acknowledged"));
  std::ifstream page("docs/explore.md");
  const std::string text{std::istreambuf_iterator<char>(page), std::istreambuf_iterator<char>()};
  EXPECT_THAT(text, HasSubstr("```\n" + found.failure->to_string() + "```\n"));
}

TEST(Explore, SamplesFindNothingInACarefulProgramAndEveryFaultFires) {
  const Exploration found = explore_samples(talk_scenario({.connections = 2}), sample_options());

  EXPECT_FALSE(found.failure) << found.failure->to_string();
  EXPECT_EQ(found.to_string(), "300 runs");
  EXPECT_EQ(found.fired.size(), sample_options().menu.size());
}

TEST(Explore, ATrialSaysAllThatDecidesItsOutcome) {
  SampleOptions options = sample_options();
  options.menu.push_back({AtTime{500ms}, RemoveDevice{"client", "anyrdma0"}});
  const Scenario scenario = talk_scenario({.heeds_removal = false});

  const Exploration found = explore_samples(scenario, options);

  ASSERT_TRUE(found.failure);
  const Outcome again = scenario(found.failure->trial);
  EXPECT_EQ(again.trace_hash, found.failure->outcome.trace_hash);
  EXPECT_EQ(again.problem, found.failure->outcome.problem);
  EXPECT_THAT(found.failure->to_string(),
              AllOf(HasSubstr("maybe at 500ms: remove client anyrdma0\n"),
                    HasSubstr("client/talk 0 waits for an event")));
}

TEST(Explore, AFaultThatNeverFiresIsNamed) {
  SampleOptions options;
  options.menu = FaultPlan::parse("on server->client DREQ 1: lose").value().faults;
  options.runs = 20;

  const Exploration found = explore_samples(talk_scenario({}), options);

  EXPECT_EQ(found.to_string(), "20 runs; never fired: maybe on server->client DREQ 1: lose");
}

TEST(Explore, NamesOnlySomeOfManyFaultsThatNeverFired) {
  Exploration found;
  found.runs = 3;
  for (const char* const fault : {"a", "b", "c", "d", "e", "f"}) found.fired[fault] = 0;
  found.fired["c"] = 1;
  found.fired["g"] = 0;
  EXPECT_EQ(found.to_string(),
            "3 runs; never fired: a; never fired: b; never fired: d; never fired: e; nor did 2 "
            "more");
}

/// A bug of order: goes wrong when "late" runs before "early", and a fault and a size play their
/// part.
Outcome order_matters(const Trial& trial) {
  World world(trial.seed, trial.options());
  Host& host = world.add_host("host", {"10.0.0.1"});
  (void)world.faults().inject(trial.plan).has_value();
  std::string order;
  const std::uint64_t bystanders = trial.size("bystanders", 0);
  for (std::uint64_t i = 0; i < bystanders; ++i) host.spawn("bystander", [] {});
  host.spawn("early", [&] { order += 'e'; });
  host.spawn("late", [&] { order += 'l'; });
  Outcome outcome = finish(world);
  sometimes("late first", order == "le");
  sometimes("neither", order.empty());
  if (order == "le" && bystanders > 2 && host.devices().has("anyrdma0")) outcome.problem = "late\n";
  return outcome;
}

ExploreOptions order_options() {
  return {.runs = 200,
          .schedules = {{.policy = Policy::kRandom}, {.policy = Policy::kPct}},
          .workload = {{.name = "bystanders", .value = 9}}};
}

TEST(Explore, AnOrderOfProgramsIsFoundAndShrunkToOneChoiceAndTheLeastWorkload) {
  const Exploration found = explore(order_options(), order_matters);

  ASSERT_TRUE(found.failure);
  const Trial& trial = found.failure->trial;
  EXPECT_EQ(trial.schedule.policy, Policy::kGiven);
  EXPECT_EQ(trial.schedule.deviations.size(), 1u);
  EXPECT_EQ(trial.size("bystanders", 0), 3u);
  EXPECT_EQ(order_matters(Trial::parse(trial.to_string()).value()).problem, "late\n");
  EXPECT_THAT(found.failure->to_string(), HasSubstr(trial.to_string()));  // the command
}

TEST(Explore, FifoOnlyNeverComesToTheOrder) {
  const Exploration found = explore({.runs = 50, .expected = {"no such line"}}, order_matters);

  EXPECT_FALSE(found.failure);
  EXPECT_THAT(found.never_seen(), ElementsAre("late first", "neither", "no such line"));
  EXPECT_EQ(found.sightings(),
            "in 0 of 50 runs: late first\n"
            "in 0 of 50 runs: neither\n"
            "in 0 of 50 runs: no such line\n");
}

/// All that a result says.
std::string text_of(const Exploration& found) {
  std::string text = found.to_string() + "\n" + found.sightings();
  for (const auto& [kind, failures] : found.kinds) {
    text += kind + " " + std::to_string(failures.runs) + " " + failures.first.to_string();
  }
  return text;
}

TEST(Explore, TheResultDoesNotDependOnTheNumberOfProcesses) {
  ExploreOptions options = order_options();
  options.menu = sample_options().menu;
  for (const bool keep_going : {false, true}) {
    options.keep_going = keep_going;
    options.jobs = 0;
    const std::string alone = text_of(explore(options, order_matters));
    for (const unsigned jobs : {1u, 2u, 5u}) {
      options.jobs = jobs;
      EXPECT_EQ(text_of(explore(options, order_matters)), alone) << jobs;
    }
  }
}

TEST(Explore, PlacementsDoNotDependOnTheNumberOfProcessesEither) {
  ExploreOptions options{.runs = 10, .placed = removals(), .placed_max = 2, .jobs = 2};
  options.placed_runs_max = 150;
  const Exploration many = explore(options, talk_scenario({}));
  options.jobs = 0;
  const Exploration one = explore(options, talk_scenario({}));

  EXPECT_EQ(many.runs, 1u + 150 + 10);
  EXPECT_EQ(text_of(many), text_of(one));
}

TEST(Explore, ACrashIsAFailureWithASeed) {
  const auto crashes = [](const Trial& trial) {
    if (trial.seed == 20) std::raise(SIGKILL);
    return Outcome{.problem = trial.seed == 23 ? "other 5\n" : ""};
  };

  const Exploration found = explore({.runs = 100, .keep_going = true, .jobs = 2}, crashes);

  EXPECT_EQ(found.runs, 100u);
  ASSERT_TRUE(found.failure);
  EXPECT_EQ(found.failure->trial.seed, 20u);
  EXPECT_EQ(found.failure->outcome.problem, "the process died of signal Killed\n");
  EXPECT_EQ(found.kinds.size(), 2u);
  EXPECT_EQ(found.kinds.at("other #").first.trial.seed, 23u);
}

// A terminal's signals are for us, and a kernel that schedules by sessions gives each its share.
TEST(Explore, EachOfSeveralProcessesLeadsASessionOfItsOwn) {
  const auto led = [](const Trial&) {
    return Outcome{.problem = ::getsid(0) == ::getpid() ? "" : "in a session of others\n"};
  };

  EXPECT_FALSE(explore({.runs = 10, .jobs = 2}, led).failure);
}

TEST(Explore, ARunThatComputesForEverIsAFailureWithASeed) {
  const auto endless = [](const Trial& trial) {
    for (volatile bool forever = trial.seed == 20; forever;) continue;
    return Outcome{};
  };

  const Exploration found =
      explore({.runs = 100, .jobs = 2, .patience = 50ms, .shrink_runs_max = 3}, endless);

  ASSERT_TRUE(found.failure);
  EXPECT_EQ(found.failure->trial.seed, 20u);
  EXPECT_EQ(found.failure->outcome.problem,
            "the run did not end: it computed for 0.05 s, and was killed\n");
}

TEST(Explore, KindsOfHangsAreToldApartByWhoWaits) {
  const auto hangs = [](const Trial& trial) {
    const std::string since = std::to_string(trial.seed);
    const std::string one =
        "here/a waits for a lock since " + since + " s\n    in f(" + since + ")\n";
    const std::string other = "here/b waits for a lock since " + since + " s\n";
    const std::string head = "these wait:\n";
    return Outcome{.problem = head + (trial.seed % 2 == 0 ? one + other
                                      : trial.seed < 50   ? other + one + other
                                                          : other)};
  };

  const Exploration found = explore({.runs = 100, .keep_going = true}, hangs);

  EXPECT_EQ(found.kinds.size(), 2u);
}

TEST(Explore, AScenarioMayHaveFaultsOfItsOwn) {
  const auto scenario = [](const Trial& trial) {
    Outcome outcome;
    outcome.faults.push_back(
        {.fault = FaultPlan::parse("maybe at 1s: crash client\n").value().faults.front(),
         .fired = 1});
    for (const Fault& fault : trial.plan.faults) outcome.faults.push_back({.fault = fault});
    return outcome;
  };

  const Exploration found = explore({.runs = 20, .jobs = 2}, scenario);

  EXPECT_EQ(found.fired.at("maybe at 1s: crash client"), 20u);
}

TEST(Explore, ABudgetEndsIt) {
  const auto endless = [](const Trial&) { return Outcome{}; };

  const Exploration found =
      explore({.runs = std::uint64_t{1} << 60, .budget = 10ms, .jobs = 1}, endless);

  EXPECT_TRUE(found.out_of_time);
  EXPECT_FALSE(found.failure);
}

TEST(Explore, ShardsDivideTheSeedsAndRepetitionsTakeOthers) {
  std::set<std::uint64_t> seeds;  // all there were
  std::set<std::uint64_t> own;    // of one search, whose first trials run twice
  const auto remember = [&own](const Trial& trial) {
    own.insert(trial.seed);
    return Outcome{};
  };
  ::setenv("TEST_TOTAL_SHARDS", "3", 1);
  for (const char* run : {"1", "2"}) {
    for (const char* shard : {"0", "1", "2"}) {
      ::setenv("TEST_RUN_NUMBER", run, 1);
      ::setenv("TEST_SHARD_INDEX", shard, 1);
      own.clear();
      (void)explore(for_this_shard({.first_seed = 100, .runs = 10}), remember);
      for (const std::uint64_t seed : own) EXPECT_TRUE(seeds.insert(seed).second) << seed;
    }
  }
  for (const char* name : {"TEST_TOTAL_SHARDS", "TEST_RUN_NUMBER", "TEST_SHARD_INDEX"}) {
    ::unsetenv(name);
  }

  EXPECT_EQ(seeds.size(), 20u);
  EXPECT_EQ(*seeds.begin(), 100u);
  EXPECT_EQ(*seeds.rbegin(), 119u);
}

/// The number of the program's runs in this process is in a message: what a static variable does.
Outcome count_runs(const Trial& trial) {
  static std::uint64_t runs = 0;
  World world(trial.seed, trial.options());
  Host& host = world.add_host("host", {"10.0.0.1"});
  host.spawn("main", [&host] { host.note("run " + std::to_string(++runs)); });
  return finish(world);
}

TEST(Explore, AStaticVariableThatOutlivesARunIsReported) {
  for (const unsigned jobs : {0u, 2u}) {
    const Exploration found = explore({.runs = 100, .jobs = jobs}, count_runs);

    EXPECT_FALSE(found.failure) << jobs;
    EXPECT_THAT(found.differs, AllOf(HasSubstr("two runs of one trial differ: trace hash 0x"),
                                     HasSubstr("A static or global variable that programs change")))
        << jobs;
  }
}

TEST(Explore, RunsThatRepeatAreNotSaidToDiffer) {
  for (const unsigned jobs : {0u, 2u}) {
    const Exploration found = explore({.runs = 10, .jobs = jobs},
                                      [](const Trial& trial) { return order_matters(trial); });
    EXPECT_EQ(found.differs, "") << jobs;
  }
}

TEST(Explore, ARunThatGoesWrongTheSecondTimeOnlyIsReported) {
  int runs = 0;
  const auto moody = [&runs](const Trial&) {
    return Outcome{.problem = ++runs == 2 ? "in a bad mood\n" : ""};
  };

  const Exploration found = explore({.runs = 100}, moody);

  ASSERT_TRUE(found.failure);
  EXPECT_THAT(found.failure->outcome.problem,
              AllOf(HasSubstr("the same trial went well before"), HasSubstr("in a bad mood")));
}

TEST(Explore, OneTrialOfTheEnvironmentIsTheOnlyRun) {
  ::setenv("ANYRDMA_TRIAL", "seed 5; schedule/2 given 1:1; set bystanders 1", 1);
  const Exploration found = explore(order_options(), order_matters);
  ::setenv("ANYRDMA_TRIAL", "seed", 1);
  const Exploration wrong = explore(order_options(), order_matters);
  ::unsetenv("ANYRDMA_TRIAL");

  EXPECT_EQ(found.runs, 1u);
  EXPECT_EQ(found.situations.at("late first"), (Sighting{1, 1}));
  ASSERT_TRUE(wrong.failure);
  EXPECT_THAT(wrong.failure->outcome.problem, HasSubstr("line 1: a seed is a number"));
}

/// Goes wrong when the handshake takes more than ten seconds: two lost requests are needed.
Outcome is_quick(const Trial& trial) {
  Talk run(trial, {});
  Outcome outcome = finish(run.world);
  const std::string text = run.world.trace().text();
  const std::size_t connected = text.find(" client note connected");
  if (connected == std::string::npos) outcome.problem = "not connected";
  const std::size_t line = text.rfind('\n', connected) + 1;
  if (std::stod(text.substr(line)) > 10) outcome.problem = "too late";
  return outcome;
}

TEST(Shrink, LeavesTheTwoGuiltyOfFourHundredFaults) {
  Trial trial;
  for (int i = 0; i < 398; ++i) {
    trial.plan.maybe(AtTime{10ms * i}, SlowPath{"client", "server", true, 2us + i * 10ns});
  }
  const auto& faults = trial.plan.faults;
  const Fault first{OnMessage{"client", "server", CmMessage::kReq, 1}, LoseMessage{}, true};
  const Fault second{OnMessage{"client", "server", CmMessage::kReq, 2}, LoseMessage{}, true};
  trial.plan.faults.insert(faults.begin() + 77, first);
  trial.plan.faults.insert(faults.begin() + 311, second);
  ASSERT_EQ(is_quick(trial).problem, "too late");

  const Trial guilty = shrink(is_quick, trial);

  EXPECT_THAT(guilty.plan.faults, ElementsAre(first, second));
}

TEST(Shrink, NamesThePacketsThatChanceHasStruck) {
  Trial trial{.plan = FaultPlan::parse("maybe on client->server packet 60%: lose\n"
                                       "maybe on server->client packet 1%: delay 1ms\n")
                          .value()};
  while (is_quick(trial).problem != "too late") ASSERT_LT(++trial.seed, 50u);

  const Trial guilty = shrink(is_quick, trial);

  EXPECT_EQ(guilty.plan.to_string(),
            "maybe on client->server packet 1: lose\n"
            "maybe on client->server packet 2: lose\n");
  EXPECT_EQ(guilty.seed, trial.seed);
}

/// Goes wrong once chance has struck so often that nobody would read each place.
TEST(Shrink, SaysWhatChanceHasStruckOftenByItsProbability) {
  const FaultPlan plan = FaultPlan::parse("on client->server packet 60%: lose").value();
  const Scenario often = [](const Trial& trial) {
    Outcome outcome;
    if (trial.plan.faults.empty()) return outcome;
    outcome.problem = "struck";
    outcome.faults = {{.fault = trial.plan.faults.front()}};
    for (std::uint32_t number = 1; number <= FaultStatus::kChosenMax; ++number)
      outcome.faults.front().chosen.push_back(number);
    return outcome;
  };

  EXPECT_EQ(shrink(often, {.plan = plan}).plan, plan);
}

TEST(Shrink, SaysHundredsOfChoicesByTheirSeedOnceItHasRunOften) {
  std::vector<Deviation> all;
  for (std::uint64_t point = 0; point < 300; ++point) all.push_back({point, 1});
  unsigned runs = 0;
  const Scenario all_matter = [&](const Trial& trial) {
    ++runs;
    const bool drawn = trial.schedule.policy == Policy::kPct;
    const bool given = trial.schedule.deviations == all;
    return Outcome{.problem = drawn || given ? "wrong" : "", .deviations = all};
  };
  const Trial trial{.seed = 3, .schedule = {.policy = Policy::kPct, .changes = 3, .length = 300}};

  const Trial guilty = shrink(all_matter, trial, {.runs_max = 50});

  EXPECT_EQ(guilty.schedule.policy, Policy::kPct);
  EXPECT_EQ(guilty.schedule.changes, 0u) << "fewer were enough";
  EXPECT_LE(runs, 60u);
}

TEST(Shrink, LeavesNothingOfAPlanThatIsNotToBlame) {
  const Trial trial{1, FaultPlan::parse("at 1s: cut a->b\nat 2s: mend a->b").value()};

  const Trial guilty =
      shrink([](const Trial&) { return Outcome{.problem = "whatever happens"}; }, trial);

  EXPECT_THAT(guilty.plan.faults, IsEmpty());
}

TEST(Explore, AFailureIsWrittenAsATest) {
  Failure failure;
  failure.trial = {7, FaultPlan::parse("at 1s: remove server anyrdma0").value()};

  EXPECT_EQ(failure.to_test("scenario"),
            "TEST(Replay, Seed7) {\n"
            "  const auto trial = anyrdma::sim::Trial::parse(\n"
            "      \"seed 7\\n\"\n"
            "      \"at 1s: remove server anyrdma0\\n\"\n"
            "      ).value();\n"
            "\n"
            "  EXPECT_EQ(scenario(trial).problem, \"\");\n"
            "}\n");
}

TEST(Explore, HealingLetsEverythingPassAgain) {
  World world(1);
  Host& client = world.add_host("client", {"10.0.0.1"});
  Host& server = world.add_host("server", {"10.0.0.2"});
  const auto plan = FaultPlan::parse("at 0s: cut *<->*\nat 0s: port-down server anyrdma0");
  ASSERT_TRUE(world.faults().inject(plan.value()));
  world.run_for(1s);
  ASSERT_TRUE(world.path(client, server).down);

  heal(world);

  EXPECT_FALSE(world.path(client, server).down);
  EXPECT_FALSE(world.path(server, client).down);
  EXPECT_EQ(server.hca().port_state(), IBV_PORT_ACTIVE);
}

}  // namespace
}  // namespace anyrdma::sim::testing
