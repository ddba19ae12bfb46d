// The fixture of a simulated test: a world with a server and a client. A failing test prints its
// seed, faults and trace hash, and the command that repeats it. The fixture includes the checkers
// (sim/testing/audit.h) and recordings of failing tests (sim/testing/recordings.h).
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string_view>

#include "sim/fault_plan.h"
#include "sim/host.h"
#include "sim/options.h"
#include "sim/world.h"

namespace anyrdma::sim::testing {

/// The fixture of a simulated test, with a world and the hosts `server` and `client`. Keep
/// channels, ids and verbs objects in the programs, in the test's body or in members of a derived
/// fixture, since they must be destroyed before the fixture. The seed is that of
/// sim/testing/settings.h.
class SimTest : public ::testing::Test {
 protected:
  explicit SimTest(const WorldOptions& options = {});
  ~SimTest() override;
  SimTest(const SimTest&) = delete;
  SimTest& operator=(const SimTest&) = delete;

  [[nodiscard]] World& world() { return *world_; }
  /// 10.0.0.1, "server".
  [[nodiscard]] Host& server() { return server_; }
  /// 10.0.0.2, "client".
  [[nodiscard]] Host& client() { return client_; }

  /// Starts a program on the server host as a fiber. The test may pass although this program still
  /// runs.
  void serve(std::function<void()> program);
  /// Starts a program on the client host as a fiber. The test fails if this program does not end.
  void ask(std::function<void()> program);

  /// Injects faults, given as text (sim/fault_plan.h) or as JSON. If `plan` is invalid, the test
  /// fails with the line and the reason.
  void inject(std::string_view plan);
  void inject(const FaultPlan& plan);

  /// Runs the world until nothing can happen any more. If a program that must end still waits then,
  /// the test fails with a report of what each thread waits for. May be called again.
  void run();

 private:
  void inject(const PlanResult<FaultPlan>& plan);

  std::optional<World> world_;
  Host& server_;
  Host& client_;
};

}  // namespace anyrdma::sim::testing
