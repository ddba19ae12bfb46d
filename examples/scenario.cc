#include "examples/scenario.h"

#include <stdexcept>

#include "sim/fault_plan.h"
#include "sim/world.h"

namespace anyrdma::examples {
namespace {

void inject(sim::World& world, std::string_view text) {
  const auto plan = sim::FaultPlan::parse(text);
  if (!plan) throw std::invalid_argument(plan.error().to_string());
  const auto accepted = world.faults().inject(*plan);
  if (!accepted) throw std::invalid_argument(accepted.error().to_string());
}

}  // namespace

Outcome run_conversation(std::uint64_t seed, std::string_view plan,
                         const sim::WorldOptions& options) {
  Outcome outcome;
  sim::World world(seed, options);
  sim::Host& server = world.add_host("server", {"10.0.0.1"});
  sim::Host& client = world.add_host("client", {"10.0.0.2"});
  inject(world, plan);
  server.spawn(
      "serve", [&] { serve(server, outcome.diary); }, sim::Ending::kMayServe);
  client.spawn("ask", [&] { ask(client, server.address(7471), outcome.diary); });
  if (!world.run()) throw std::runtime_error(world.stuck_report());

  outcome.trace_hash = world.trace().hash();
  outcome.packets = world.packets();
  if (options.tracing == sim::Tracing::kKeep) outcome.trace = world.trace().text();
  if (options.capture) outcome.capture = world.capture();
  for (const sim::Fault& fault : world.faults().unfired()) {
    outcome.unfired.push_back(to_string(fault));
  }
  return outcome;
}

}  // namespace anyrdma::examples
