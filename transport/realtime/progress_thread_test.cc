// The thread that works while the application sleeps, in real time.
#include "transport/realtime/progress_thread.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "transport/realtime/descriptor.h"

namespace anyrdma::transport::realtime {
namespace {

using namespace std::chrono_literals;

/// Has something to do at once when it is woken first, and then nothing more.
class OneDeadline final : public ProgressThread::Work {
 public:
  std::optional<verbs::Instant> on_wakeup() override {
    const std::scoped_lock lock(mutex_);
    ++wakeups_;
    woken_.notify_all();
    if (wakeups_ == 1) return monotonic_now();
    return std::nullopt;
  }
  [[nodiscard]] bool await_deadline() {
    std::unique_lock lock(mutex_);
    return woken_.wait_for(lock, 60s, [this] { return wakeups_ >= 2; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable woken_;
  int wakeups_ = 0;
};

/// What the kernel says of each timer of this process: when it expires next.
std::vector<std::string> timers() {
  std::vector<std::string> all;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::ifstream info(each.path());
    for (std::string line; std::getline(info, line);) {
      if (line.starts_with("it_value:")) all.push_back(line);
    }
  }
  return all;
}

TEST(ProgressThread, HasNoTimerSetWhenNothingIsDue) {
  const Descriptor never(::eventfd(0, EFD_CLOEXEC));
  OneDeadline work;
  const auto thread = ProgressThread::start(never.get(), work);
  ASSERT_TRUE(thread);
  (*thread)->wake();

  ASSERT_TRUE(work.await_deadline());

  EXPECT_FALSE(timers().empty());
  for (const std::string& timer : timers()) EXPECT_EQ(timer, "it_value: (0, 0)");
}

}  // namespace
}  // namespace anyrdma::transport::realtime
