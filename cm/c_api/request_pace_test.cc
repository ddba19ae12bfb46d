#include "cm/c_api/request_pace.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <ctime>
#include <latch>
#include <thread>
#include <vector>

namespace anyrdma::c_api {
namespace {

/// Runs what the calling thread, its children and what it starts do on one processor only.
void stay_on_one_processor() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
  EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
}

/// Processes that leave little of this thread's processors to others.
class BusyLoops {
 public:
  explicit BusyLoops(int count) {
    for (; count > 0; --count) {
      const pid_t child = fork();
      if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (volatile bool forever = true; forever;) {
        }
      }
      children_.push_back(child);
    }
  }
  ~BusyLoops() {
    for (const pid_t child : children_) kill(child, SIGKILL);
    for (const pid_t child : children_) waitpid(child, nullptr, 0);
  }

 private:
  std::vector<pid_t> children_;
};

std::chrono::nanoseconds processor_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

void use_processor_for(std::chrono::nanoseconds share) {
  const auto end = processor_time() + share;
  while (processor_time() < end) {
  }
}

TEST(RequestPace, DoesNotWaitWithoutARequest) {
  EXPECT_TRUE(RequestPace::wait());
}

TEST(RequestPace, GoesOnWhenTheRequestWasTaken) {
  const rdma_cm_id id{};
  RequestPace::handed_out(&id);
  RequestPace::taken(&id);

  EXPECT_TRUE(RequestPace::wait());
}

TEST(RequestPace, GivesUpOnARequestThatNobodyTakes) {
  const rdma_cm_id id{};
  const rdma_cm_id other{};
  RequestPace::handed_out(&id);
  RequestPace::taken(&other);

  EXPECT_FALSE(RequestPace::wait());
  EXPECT_TRUE(RequestPace::wait());
}

// A thread that has begun to work on the request as soon as it could; but it could not.
TEST(RequestPace, WaitsForAThreadThatIsKeptFromItsWork) {
  constexpr std::chrono::milliseconds kWork{2};  // less than anybody's chance is
  const rdma_cm_id id{};
  std::latch beset(1);
  std::latch begun(1);
  std::thread worker([&] {
    stay_on_one_processor();
    const BusyLoops others(10);
    beset.count_down();
    begun.wait();
    use_processor_for(kWork);
    RequestPace::taken(&id);
  });
  beset.wait();
  RequestPace::handed_out(&id);
  begun.count_down();

  EXPECT_TRUE(RequestPace::wait());
  worker.join();
}

// One that polls, for instance.
TEST(RequestPace, DoesNotWaitForAThreadThatHadItsChance) {
  const rdma_cm_id id{};
  std::atomic<bool> told = false;
  std::thread worker([&told] {
    while (!told) {
    }
  });
  RequestPace::handed_out(&id);

  EXPECT_FALSE(RequestPace::wait());
  told = true;
  worker.join();
}

}  // namespace
}  // namespace anyrdma::c_api
