// The oracles as tests. Each prints how many runs it made.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <vector>

#include "sim/fault_plan.h"
#include "tests/planted/judging.h"
#include "tests/planted/oracles.h"

namespace anyrdma::planted {
namespace {

sim::Scenario street_scenario(const Street& street) {
  return counted([street](const sim::Trial& trial) { return run_street(trial, street); });
}

TEST(Once, Courier) {
  judge(run_street({}, {}));
}

TEST(Once, Services) {
  judge(run_services({}));
}

sim::SampleOptions sample_options() {
  sim::SampleOptions options;
  options.menu = sim::FaultPlan::parse(
                     "on client->server packet 10%: lose\n"
                     "on server->client packet 10%: lose\n"
                     "on *->* packet 20%: duplicate\n"
                     "on *->* packet 20%: delay 5ms\n"
                     "on *->* packet 5%: delay 300ms\n"
                     "on *->* packet 10%: corrupt\n"
                     "on client->server REQ 1: delay 10s\n"
                     "on server->client REP 1: lose\n"
                     "on client->server RTU 1: lose\n"
                     "on *->* DREQ 1: lose\n"
                     "on *->* DREP 1: lose\n"
                     "on server request 1: reject 28\n"
                     "on server request 1: overflow\n"
                     "at 1us: cut client<->server\n"
                     "at 10us: cut client->server\n"
                     "at 20us: cut server->client\n"
                     "at 50us: fail-over server eth0\n"
                     "at 30us: remove server anyrdma0\n"
                     "at 100us: remove client anyrdma0\n")
                     .value()
                     .faults;
  options.runs = 200;
  return options;
}

TEST(Samples, Courier) {
  judge_samples([](const sim::Trial& trial) { return run_street(trial, {}); }, sample_options());
}

TEST(Samples, Services) {
  sim::SampleOptions options;
  options.menu = sim::FaultPlan::parse(
                     "on client->server packet 10%: lose\n"
                     "on server->client packet 20%: lose\n"
                     "on *->* packet 20%: duplicate\n"
                     "on *->* packet 20%: delay 5ms\n"
                     "on *->* packet 5%: delay 300ms\n"
                     "on *->* packet 10%: corrupt\n")
                     .value()
                     .faults;
  options.runs = 100;
  judge_samples(run_services, options);
}

sim::StepOptions removals() {
  sim::StepOptions options;
  options.actions = {sim::RemoveDevice{"client", "anyrdma0"},
                     sim::RemoveDevice{"server", "anyrdma0"}};
  return options;
}

TEST(Steps, Courier) {
  const auto found = sim::explore_steps(
      street_scenario({.clients = 1, .rounds = 1, .unwelcome = false}), removals());
  judge(found.runs, found.failure);
}

/// What may happen to any one packet, and must not matter.
std::vector<sim::Trial> mishaps() {
  constexpr std::uint32_t kPackets = 30;  // more than the talk has, either way
  std::vector<sim::Trial> trials;
  for (std::uint32_t number = 1; number <= kPackets; ++number) {
    for (const sim::OnPacket& packet :
         {sim::OnPacket{"client", "server", number}, sim::OnPacket{"server", "client", number}}) {
      const sim::FaultAction actions[] = {sim::LoseMessage{}, sim::DuplicateMessage{},
                                          sim::DelayMessage{std::chrono::milliseconds(5)}};
      for (const sim::FaultAction& action : actions) {
        trials.push_back({.seed = 1, .plan = {{{packet, action, true}}}});
      }
    }
  }
  return trials;
}

TEST(Packets, Courier) {
  const sim::Scenario scenario =
      street_scenario({.clients = 1, .rounds = 1, .unwelcome = false, .harmless = true});
  std::uint64_t runs = 0;
  std::optional<sim::Failure> failure;
  for (const sim::Trial& trial : mishaps()) {
    const sim::Outcome outcome = scenario(trial);
    ++runs;
    if (outcome.problem.empty()) continue;
    failure = sim::Failure{trial, outcome, 1};
    break;
  }
  judge(runs, failure);
}

}  // namespace
}  // namespace anyrdma::planted
