#include "sim/testing/sim_test.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <ios>
#include <utility>

#include "sim/recorder.h"
#include "sim/testing/audit.h"
#include "sim/testing/settings.h"

namespace anyrdma::sim::testing {
namespace {

/// A test that shows more is cut off.
constexpr std::size_t kRecordingBytesMax = std::size_t{16} << 20;

WorldOptions recorded(WorldOptions options, const std::shared_ptr<recording::Sink>& sink) {
  if (options.record.empty() && options.recording == nullptr) options.recording = sink;
  return options;
}

/// Where Bazel keeps what tests leave, else among temporary files.
std::string directory() {
  const char* const outputs = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  return outputs == nullptr || *outputs == '\0' ? ::testing::TempDir() : std::string(outputs) + "/";
}

/// Empty, or a line that says where it is.
std::string keep(const recording::MemorySink& sink) {
  const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
  if (sink.bytes().empty() || test == nullptr) return {};
  std::string name = std::string(test->test_suite_name()) + "." + test->name();
  std::replace(name.begin(), name.end(), '/', '_');
  const std::string path = directory() + name + ".recording";
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(sink.bytes().data()),
             static_cast<std::streamsize>(sink.bytes().size()));
  if (!file.flush()) return {};
  return "\nits recording, for `anyrdma trace`: " + path;
}

}  // namespace

SimTest::SimTest(const WorldOptions& options)
    : recording_(std::make_shared<recording::MemorySink>(kRecordingBytesMax)),
      world_(std::in_place, current_settings().seed, recorded(options, recording_)),
      server_(world_->add_host("server", {"10.0.0.1"})),
      client_(world_->add_host("client", {"10.0.0.2"})) {
  require_audit();
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
  if (Recorder* const recorder = world_->recorder(); recorder != nullptr) {
    recorder->about("command", command);
    if (HasFailure()) recorder->set_verdict("failed");
  }
  world_.reset();
  if (!HasFailure()) return;
  ADD_FAILURE() << "seed " << seed << ", trace hash " << std::hex << std::setfill('0')
                << std::setw(16) << hash << "\nfaults:" << (faults.empty() ? " none\n" : "\n")
                << faults << "repeat it with: " << command << keep(*recording_);
}

void SimTest::serve(std::function<void()> program) {
  server_.spawn("main", std::move(program), Ending::kMayServe);
}

void SimTest::ask(std::function<void()> program) {
  client_.spawn("main", std::move(program));
}

void SimTest::inject(std::string_view plan) {
  const std::size_t first = plan.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string_view::npos && plan[first] == '{';
  inject(is_json ? parse_json(plan) : FaultPlan::parse(plan));
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
  if (!result) ADD_FAILURE() << "nothing can happen any more:\n" << world_->stuck_report();
}

}  // namespace anyrdma::sim::testing
