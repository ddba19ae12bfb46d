// A Runtime for tests: time that the test sets, no lock, semaphores that never block.
#pragma once

#include <cerrno>
#include <cstdint>
#include <functional>
#include <memory>

#include "verbs/assert.h"
#include "verbs/random.h"
#include "verbs/runtime.h"

namespace anyrdma::verbs::soft::testing {

/// wait() runs `when_empty` once if there is no unit, and then reports EDEADLK, as the simulator
/// does when nobody will ever post.
class FakeSemaphore : public Semaphore {
 public:
  explicit FakeSemaphore(const std::function<void()>& when_empty) : when_empty_(when_empty) {}

  void post() override { ++units_; }
  bool try_wait() override {
    if (units_ == 0) return false;
    --units_;
    return true;
  }
  Result<void> wait() override {
    if (units_ == 0 && when_empty_) when_empty_();
    if (!try_wait()) return errno_code(EDEADLK);
    return {};
  }
  int fd() const override { return -1; }

 private:
  const std::function<void()>& when_empty_;
  std::uint64_t units_ = 0;
};

class FakeRuntime : public Runtime {
 public:
  Instant now() override { return time; }
  Result<std::unique_ptr<Semaphore>> make_semaphore() override {
    return std::unique_ptr<Semaphore>(std::make_unique<FakeSemaphore>(when_empty));
  }
  void enter() override {
    CM_ASSERT(!inside);
    inside = true;
  }
  void leave() override {
    CM_ASSERT(inside);
    inside = false;
  }
  void progress() override { ++progress_calls; }
  using Runtime::answer_call;
  using Runtime::driver_called;

  Instant time{};
  bool inside = false;
  int progress_calls = 0;
  std::function<void()> when_empty;  ///< stands for what other threads do meanwhile
};

/// A fixed sequence (splitmix64).
class FakeRandom : public Random {
 public:
  explicit FakeRandom(std::uint64_t seed = 1) : state_(seed) {}
  std::uint64_t next() override {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

}  // namespace anyrdma::verbs::soft::testing
