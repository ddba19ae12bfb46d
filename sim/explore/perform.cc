#include "sim/explore/perform.h"

#include "base/text.h"
#include "sim/explore/outcome_bytes.h"
#include "sim/explore/run_pool.h"
#include "sim/findings.h"

namespace anyrdma::sim {
namespace {

std::string hash_text(const Outcome& outcome) {
  std::string text;
  append(text, "0x%016llx", static_cast<unsigned long long>(outcome.trace_hash));
  return text;
}

}  // namespace

Outcome perform(const Scenario& scenario, const Trial& trial, bool covers) {
  const Findings findings(covers);
  Outcome outcome = scenario(trial);
  outcome.problem += findings.problems();
  outcome.situations = findings.situations();
  outcome.reached = findings.reached();
  return outcome;
}

Outcome perform_twice(const Scenario& scenario, const Trial& trial, bool covers) {
  Outcome outcome = perform(scenario, trial, covers);
  if (!outcome.problem.empty()) return outcome;
  const Outcome again = perform(scenario, trial, covers);
  if (again.trace_hash != outcome.trace_hash) {
    outcome.differs = "two runs of one trial differ: trace hash " + hash_text(outcome) + ", then " +
                      hash_text(again) +
                      ".\nA static or global variable that programs change is the usual reason; "
                      "others are a pointer's value,\nreal time and random numbers of their own. "
                      "The failure may not be reproducible.\n";
  }
  if (!again.problem.empty()) outcome.problem = std::string(kMood) + ":\n" + again.problem;
  return outcome;
}

Outcome outcome_of_death(const std::string& death) {
  Outcome outcome{.problem = death + "\n"};
  outcome.died = true;
  return outcome;
}

Outcome run_apart(const Scenario& scenario, const Trial& trial, std::chrono::nanoseconds patience,
                  const std::function<bool()>& stop) {
  Outcome outcome;
  run_in_order(
      1, {.processor_time = patience, .stop = stop}, [](std::uint64_t) { return std::string(); },
      [&](std::uint64_t, const std::string&) { return to_bytes(perform(scenario, trial)); },
      [&](std::uint64_t, const std::string& bytes, const std::string& death) {
        outcome = death.empty() ? outcome_from(bytes) : outcome_of_death(death);
        return true;
      });
  return outcome;
}

}  // namespace anyrdma::sim
