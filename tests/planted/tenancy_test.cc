// What befalls a program besides its messages, as an oracle: the tenant under every such fault.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <variant>

#include "sim/fault_plan.h"
#include "sim/world.h"
#include "tests/planted/judging.h"
#include "tests/planted/oracles.h"
#include "tests/planted/tenant.h"

namespace anyrdma::planted {
namespace {

using namespace std::chrono_literals;

/// How often a device of the client's has said so.
int times_said(const sim::World& world, std::string_view event) {
  int times = 0;
  for (const auto& status : world.faults().status()) {
    const auto* raised = std::get_if<sim::RaiseEvent>(&status.fault.action);
    if (raised != nullptr && raised->event == event) times += static_cast<int>(status.observed);
  }
  return times;
}

template <class Action>
int times_done(const sim::World& world, std::string_view host = {}) {
  int times = 0;
  for (const auto& status : world.faults().status()) {
    const auto* action = std::get_if<Action>(&status.fault.action);
    if (action == nullptr) continue;
    if constexpr (requires { action->host; }) {
      if (!host.empty() && action->host != host) continue;
    }
    times += static_cast<int>(status.observed);
  }
  return times;
}

class House {
 public:
  explicit House(const sim::Trial& trial) : world_(trial.seed) {
    start_house(server_, tenancy_);
    start_tenant(client_, server_, tenancy_);
    EXPECT_TRUE(world_.faults().inject(trial.plan)) << trial.plan.to_string();
  }

  sim::Outcome run() {
    world_.run_for(60s);
    const bool killed = times_done<sim::KillPrograms>(world_) != 0;
    sim::heal(world_);
    if (killed) {
      const int before = tenancy_.moved_in;  // 0 if it was killed before it had moved in
      start_tenant(client_, server_, tenancy_);
      world_.run_for(60s);
      if (tenancy_.moved_in != before + 1) tenancy_.complain("the room of the dead is not let");
    } else {
      if (tenancy_.moved_in != 1) tenancy_.complain("there is a room, and a tenant without one");
      look();
    }
    sim::Outcome outcome = sim::finish(world_);
    outcome.problem += tenancy_.complaints;
    return outcome;
  }

 private:
  void look() {
    if (tenancy_.link_looks != link_changes()) tenancy_.complain("its link is out of date");
    if (tenancy_.neighbour_looks != neighbour_news())
      tenancy_.complain("its neighbour is out of date");
    if (!tenancy_.member) tenancy_.complain("the group is not heard any more");
    if (tenancy_.given_up != (times_said(world_, "DEVICE_FATAL") != 0))
      tenancy_.complain("a broken device is used");
    if (tenancy_.given_up) return;  // it hears no more
    if (tenancy_.registrations != 1 + times_said(world_, "CLIENT_REREGISTER"))
      tenancy_.complain("the subnet's manager asked in vain");
    if (tenancy_.partition_looks != times_said(world_, "PKEY_CHANGE"))
      tenancy_.complain("partitions are out of date");
    if (tenancy_.address_looks !=
        times_said(world_, "LID_CHANGE") + times_said(world_, "GID_CHANGE"))
      tenancy_.complain("addresses are out of date");
    if (tenancy_.manager_looks != times_said(world_, "SM_CHANGE"))
      tenancy_.complain("the manager is out of date");
    if (tenancy_.queues != 1 + times_done<sim::FailSharedQueue>(world_))
      tenancy_.complain("a queue that failed is not replaced");
  }

  /// After the first, which comes before the tenant: back to the link that it does not know.
  [[nodiscard]] int link_changes() const {
    if (tenancy_.door != 0) return 0;
    return std::min(times_done<sim::ChangeAddress>(world_, "client"),
                    times_done<sim::RestoreAddress>(world_, "client"));
  }
  /// Of a house that has moved.
  [[nodiscard]] int neighbour_news() const {
    const int moves = times_done<sim::ChangeAddress>(world_, "server");
    const int looks = times_done<sim::ConfirmNeighbour>(world_, "client") +
                      times_done<sim::ForgetNeighbour>(world_, "client");
    return moves == 0 || tenancy_.door != 0 ? 0 : moves + looks;
  }

  Tenancy tenancy_;  // before the world: programs write in it until the world has ended
  sim::World world_;
  sim::Host& server_ = world_.add_host(
      "server", {.interfaces = {{.addresses = {"10.0.0.1/24"}}, {.addresses = {"10.1.0.1/24"}}}});
  sim::Host& client_ = world_.add_host(
      "client", {.interfaces = {{.addresses = {"10.0.0.2/24"}}, {.addresses = {"10.1.0.2/24"}}}});
};

sim::Outcome run_house(const sim::Trial& trial) {
  return judged([&trial] { return House(trial).run(); });
}

sim::SampleOptions samples() {
  sim::SampleOptions options;
  options.menu = sim::FaultPlan::parse(
                     "on server request 1: stale\n"
                     "on client->server REQ 1: alter service_id 0\n"
                     "on server request 1: mra 22\n"
                     "on client routing 1: unrouted ETIMEDOUT\n"
                     "at 0s: cut-rail client eth0\n"
                     "at 0s: fail-over client eth0\n"
                     "at 5s: kill client/tenant\n"
                     "at 7s: fail-back client eth0\n"
                     "at 10s: fail-over server eth0\n"
                     "at 11s: confirm-neighbour client 10.0.0.1\n"
                     "at 12s: forget-neighbour client 10.0.0.1\n"
                     "at 5s: lose-group client 239.1.2.3\n"
                     "at 6s: srq-error client#srq1\n"
                     "at 7s: device-event client anyrdma0 PKEY_CHANGE\n"
                     "at 7s: device-event client anyrdma0 LID_CHANGE\n"
                     "at 8s: device-event client anyrdma0 GID_CHANGE\n"
                     "at 8s: device-event client anyrdma0 SM_CHANGE\n"
                     "at 9s: device-event client anyrdma0 CLIENT_REREGISTER\n"
                     "at 10s: device-event client anyrdma0 DEVICE_FATAL\n")
                     .value()
                     .faults;
  options.runs = 2000;
  return options;
}

TEST(Once, Tenant) {
  judge(run_house({}));
}

TEST(Samples, Tenant) {
  judge_samples(run_house, samples());
}

}  // namespace
}  // namespace anyrdma::planted
