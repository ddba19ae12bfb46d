#include "sim/testing/two_rails.h"

#include <algorithm>
#include <utility>

#include "sim/fault_plan.h"
#include "transport/fault/plan/scalars.h"

namespace anyrdma::sim::testing {
namespace {

HostOptions on_both_rails(const std::string& host) {
  return {.interfaces = {{.addresses = {"10.0.0." + host}}, {.addresses = {"10.0.1." + host}}}};
}

/// The result of one run.
struct Ran {
  Instant end{};
  std::vector<std::string> problems{};
};

/// `fault`: a line of a plan, for `moment`; empty: none.
Ran run_once(const RailFailures& failures, const std::function<void(TwoRails&)>& start,
             Duration moment, const std::string& fault) {
  TwoRails rails(failures.seed, failures.promise);
  if (!fault.empty()) {
    const auto plan = FaultPlan::parse(fault + "\n");
    if (!plan) return {.problems = {plan.error().to_string()}};
    if (const auto injected = rails.world().faults().inject(*plan); !injected)
      return {.problems = {injected.error().to_string()}};
    rails.delivery().failed(Instant{} + moment);
  }
  start(rails);
  Ran ran;
  if (!rails.world().run()) ran.problems.push_back(rails.world().stuck_report());
  for (std::string& each : rails.delivery().problems()) ran.problems.push_back(std::move(each));
  ran.end = rails.delivery().last();
  return ran;
}

}  // namespace

TwoRails::TwoRails(std::uint64_t seed, const DeliveryPromise& promise)
    : delivery_(promise),
      world_(seed),
      client_(world_.add_host("client", on_both_rails("1"))),
      server_(world_.add_host("server", on_both_rails("2"))) {}

std::vector<std::string> problems_with_rails(const RailFailures& failures,
                                             const std::function<void(TwoRails&)>& start) {
  std::vector<std::string> lines;
  const auto run = [&](Duration moment, const std::string& fault) {
    Ran ran = run_once(failures, start, moment, fault);
    for (const std::string& each : ran.problems)
      lines.push_back((fault.empty() ? "without a failure" : fault) + ": " + each);
    return ran.end;
  };
  const Duration length = run({}, "").time_since_epoch();
  if (!lines.empty()) return lines;  // what fails without a failure says nothing of failures
  const auto count = static_cast<Duration::rep>(std::max<std::size_t>(failures.moments, 1));
  for (const std::string& action : failures.actions) {
    for (Duration::rep n = 0; n < count; ++n) {
      const Duration moment = length * n / count;
      run(moment, "at " + fault::word_of(moment) + ": " + action);
    }
  }
  return lines;
}

}  // namespace anyrdma::sim::testing
