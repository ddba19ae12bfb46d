#include "sim/testing/recordings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <ios>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "recording/page/story_page.h"
#include "recording/sink.h"
#include "recording/view/story.h"
#include "sim/explore/running_test.h"
#include "sim/findings.h"
#include "sim/recorder.h"
#include "sim/schedule/fiber.h"
#include "sim/testing/settings.h"
#include "sim/unasked_recordings.h"

namespace anyrdma::sim::testing {
namespace {

/// A world that shows more is cut off.
constexpr std::size_t kBytesMax = std::size_t{16} << 20;
/// Of one test.
constexpr std::size_t kFilesMax = 4;

std::string name_of_test() {
  const ::testing::TestInfo* const test = ::testing::UnitTest::GetInstance()->current_test_info();
  if (test == nullptr) return {};
  return std::string(test->test_suite_name()) + "." + test->name();
}

/// Where Bazel keeps what tests leave, else among temporary files.
std::string usual_directory() {
  const char* const outputs = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  return outputs == nullptr || *outputs == '\0' ? ::testing::TempDir() : std::string(outputs) + "/";
}

/// One line of it all, as long as people read.
std::string in_one_line(std::string_view lines) {
  constexpr std::size_t kLettersMax = 300;
  std::string text;
  for (const char letter : lines) {
    const bool blank = letter == '\n' || letter == ' ';
    if (!blank || (!text.empty() && text.back() != ' ')) text += blank ? ' ' : letter;
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  if (text.size() <= kLettersMax) return text;
  std::size_t end = kLettersMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // of UTF-8
  return text.substr(0, end) + " ...";
}

/// What GoogleTest says of a failure: whose and where, and its lines.
std::pair<std::string, std::string> sentence_of(const ::testing::TestPartResult& failure) {
  const Fiber* const fiber = Fibers::running();
  std::string who = fiber == nullptr ? "the test" : fiber->name();
  if (failure.file_name() != nullptr)
    who += " at " + std::string(failure.file_name()) + ":" + std::to_string(failure.line_number());
  return {who + ": " + in_one_line(failure.message()), failure.message()};
}

struct Recorded {
  std::shared_ptr<recording::MemorySink> sink;
  Recorder* recorder = nullptr;  ///< null: its world has ended
  std::thread::id thread{};
  std::uint64_t seed = 0;
  bool failed = false;
  /// What failed while the world ended: mostly what checkers said, which is told already.
  std::pair<std::string, std::string> late{};
};

/// Those of the test that runs.
class Recordings final : public UnaskedRecordings, public ::testing::EmptyTestEventListener {
 private:
  std::shared_ptr<recording::Sink> open() override {
    if (being_explored()) return nullptr;
    const std::lock_guard lock(mutex_);
    if (test_.empty()) return nullptr;  // a benchmark, say
    return std::make_shared<recording::MemorySink>(kBytesMax);
  }

  void begun(const std::shared_ptr<recording::Sink>& sink, Recorder& recorder,
             std::uint64_t seed) override {
    const std::lock_guard lock(mutex_);
    forget();
    Recorded& world = worlds_.emplace_back();
    world.sink = std::static_pointer_cast<recording::MemorySink>(sink);
    world.recorder = &recorder;
    world.thread = std::this_thread::get_id();
    world.seed = seed;
  }

  void ending(Recorder& recorder) override {
    const std::optional<Recorded> world = end(recorder);
    if (!world) return;
    if (!world->late.first.empty() && !recorder.found())
      recorder.finding(world->late.first, world->late.second);
    recorder.about("program", running_test());
    recorder.about("command", command_to_repeat(world->seed));
  }

  /// What is known of its world, if it is one of ours.
  std::optional<Recorded> end(const Recorder& recorder) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(worlds_.begin(), worlds_.end(), [&](const Recorded& each) {
      return each.recorder == &recorder;
    });
    if (found == worlds_.end()) return std::nullopt;
    found->recorder = nullptr;
    return *found;
  }

  // --- GoogleTest -------------------------------------------------------------------------------

  void OnTestStart(const ::testing::TestInfo&) override {
    const std::lock_guard lock(mutex_);
    test_ = name_of_test();
    forget_all();
  }

  // Under GoogleTest's lock: nothing can be asked of it here.
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed()) return;
    const std::lock_guard lock(mutex_);
    bool any = false;
    for (Recorded& world : worlds_) {
      if (world.recorder != nullptr && world.thread == std::this_thread::get_id()) {
        note(world, sentence_of(result));
        any = true;
      }
      any |= world.failed;
    }
    if (!any && !worlds_.empty()) worlds_.back().failed = true;
  }

  void OnTestEnd(const ::testing::TestInfo& test) override {
    const std::lock_guard lock(mutex_);
    const std::string wanted = current_settings().record;
    if (!wanted.empty()) {
      keep(wanted + "/", [](const Recorded&) { return true; });
    } else if (test.result()->Failed()) {
      keep(usual_directory(), [](const Recorded& world) { return world.failed; });
    }
    test_.clear();
    forget_all();
  }

  // --- what is kept -----------------------------------------------------------------------------

  static void note(Recorded& world, std::pair<std::string, std::string> sentence) {
    world.failed = true;
    if (world.recorder->closed()) {
      if (world.late.first.empty()) world.late = std::move(sentence);
    } else {
      world.recorder->finding(sentence.first, sentence.second);
    }
  }

  /// All but those that went wrong, those that go on, and the last one: a test may look at its
  /// results when its world has ended.
  void forget() {
    if (!current_settings().record.empty() && worlds_.size() < kFilesMax) return;
    std::erase_if(worlds_, [this](const Recorded& each) {
      return !each.failed && each.recorder == nullptr && &each != &worlds_.back();
    });
  }

  /// A world may outlive its test.
  void forget_all() {
    std::erase_if(worlds_, [](const Recorded& each) { return each.recorder == nullptr; });
    for (Recorded& each : worlds_) each.failed = false;
  }

  template <class Wanted>
  void keep(const std::string& directory, const Wanted& wanted) const {
    std::size_t files = 0;
    for (const Recorded& world : worlds_) {
      if (!wanted(world) || world.sink->bytes().empty() || files == kFilesMax) continue;
      std::string path = test_;
      if (++files > 1) path.append(".").append(std::to_string(files));
      std::replace(path.begin(), path.end(), '/', '_');
      write(directory + path, world.sink->bytes());
    }
  }

  static void write(const std::string& path, std::span<const std::uint8_t> bytes) {
    std::ofstream file(path + ".recording", std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    if (!file.flush()) {
      std::printf("its recording cannot be kept as %s.recording\n", path.c_str());
      return;
    }
    std::printf("its recording, for `anyrdma trace`: %s.recording\n", path.c_str());
    const recording::Told told = recording::tell(bytes);
    if (told.story && recording::write_story_page({&*told.story}, path + ".html").empty())
      std::printf("its page, for a browser: %s.html\n", path.c_str());
    std::fflush(stdout);
  }

  std::mutex mutex_;
  std::string test_;
  std::vector<Recorded> worlds_;
};

[[maybe_unused]] const bool kInstalled = [] {
  auto* const recordings = new Recordings;  // GoogleTest's own from here on
  ::testing::UnitTest::GetInstance()->listeners().Append(recordings);
  UnaskedRecordings::install(recordings);
  name_running_tests(&name_of_test);
  return true;
}();

}  // namespace

void require_recordings() {}

}  // namespace anyrdma::sim::testing
