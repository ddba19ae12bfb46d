#include "tests/recording/recorded.h"

#include <algorithm>

namespace anyrdma::tests {
namespace {

constexpr std::size_t kPlenty = std::size_t{1} << 24;

}  // namespace

RecordedRun record_clean_run(std::uint64_t seed, std::string_view plan,
                             const sim::WorldOptions& options) {
  const auto sink = std::make_shared<recording::MemorySink>(kPlenty);
  RecordedRun result;
  {
    sim::WorldOptions with = options;
    with.recording = sink;
    sim::World world(seed, with);
    sim::testing::CleanRun run(world);
    if (!plan.empty()) world.faults().inject(sim::FaultPlan::parse(plan).value()).value();
    run.start();
    world.run().value();
    run.end();
    result.hash = world.trace().hash();
  }
  result.story = recording::tell(sink->bytes()).story.value();
  return result;
}

const recording::Record* find(const recording::Story& story, recording::RecordKind kind,
                              std::string_view name) {
  const auto found = std::find_if(
      story.records.begin(), story.records.end(),
      [&](const recording::Record& each) { return each.kind == kind && each.name == name; });
  return found == story.records.end() ? nullptr : &*found;
}

}  // namespace anyrdma::tests
