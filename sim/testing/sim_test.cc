#include "sim/testing/sim_test.h"

#include <iomanip>
#include <ios>
#include <utility>

#include "sim/testing/audit.h"
#include "sim/testing/recordings.h"
#include "sim/testing/settings.h"

namespace anyrdma::sim::testing {

SimTest::SimTest(const WorldOptions& options)
    : world_(std::in_place, current_settings().seed, options),
      server_(world_->add_host("server", {"10.0.0.1"})),
      client_(world_->add_host("client", {"10.0.0.2"})) {
  require_audit();
  require_recordings();
  if (const std::string problem = current_settings().problem; !problem.empty()) {
    ADD_FAILURE() << problem;
  }
}

// The checkers have their last word when the world ends, so what describes it is kept.
SimTest::~SimTest() {
  const std::uint64_t seed = world_->seed();
  const std::uint64_t hash = world_->trace().hash();
  const std::string faults = world_->faults().report();
  const std::string command = command_to_repeat(seed);
  world_.reset();
  if (!HasFailure()) return;
  ADD_FAILURE() << "seed " << seed << ", trace hash " << std::hex << std::setfill('0')
                << std::setw(16) << hash << "\nfaults:" << (faults.empty() ? " none\n" : "\n")
                << faults << "repeat it with: " << command;
}

void SimTest::serve(std::function<void()> program) {
  server_.spawn("main", std::move(program), Ending::kMayServe);
}

void SimTest::ask(std::function<void()> program) {
  client_.spawn("main", std::move(program));
}

void SimTest::inject(std::string_view plan) {
  inject(fault::parse_either(plan));
}

void SimTest::inject(const FaultPlan& plan) {
  inject(PlanResult<FaultPlan>(plan));
}

void SimTest::inject(const PlanResult<FaultPlan>& plan) {
  if (!plan) {
    ADD_FAILURE() << "the plan is refused: " << plan.error().to_string();
    return;
  }
  const PlanResult<void> injected = world_->faults().inject(*plan);
  if (!injected) ADD_FAILURE() << "the plan is refused: " << injected.error().to_string();
}

void SimTest::run() {
  const Result<void> result = world_->run();
  if (!result) ADD_FAILURE() << "deadlock: no event is pending:\n" << world_->stuck_report();
}

}  // namespace anyrdma::sim::testing
