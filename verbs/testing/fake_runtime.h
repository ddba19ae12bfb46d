// A runtime for unit tests: time is a variable, nobody is locked out, nobody sleeps.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "verbs/assert.h"
#include "verbs/runtime.h"

namespace anyrdma::verbs::testing {

/// Single-threaded. Asserts what a real runtime would punish with a deadlock: the critical section
/// is not entered twice, and nobody waits inside of it.
class FakeRuntime : public Runtime {
 public:
  Instant now() override { return now_; }
  void advance(Duration by) { now_ += by; }

  Result<std::unique_ptr<Semaphore>> make_semaphore() override {
    if (refused_semaphores_ > 0) {
      --refused_semaphores_;
      return errno_code(EMFILE);
    }
    return std::unique_ptr<Semaphore>(new FakeSemaphore(*this));
  }
  /// The next `count` semaphores cannot be made: EMFILE.
  void refuse_semaphores(std::size_t count) { refused_semaphores_ = count; }

  void enter() override {
    CM_ASSERT(!inside_);
    if (when_entering) std::exchange(when_entering, nullptr)();
    inside_ = true;
    ++entries_;
  }
  void leave() override {
    CM_ASSERT(inside_);
    inside_ = false;
  }
  [[nodiscard]] bool inside() const { return inside_; }
  [[nodiscard]] std::size_t entries() const { return entries_; }

  /// What the rest of the world does when somebody would block: called once per fruitless attempt.
  /// Without it, or when it posts nothing, the wait fails with EDEADLK.
  std::function<void()> when_blocked;
  std::size_t blocked = 0;  ///< how often somebody would have slept
  /// What another thread does just before the next entry; once.
  std::function<void()> when_entering;
  /// Units that wait in all semaphores together.
  [[nodiscard]] std::size_t units() const { return units_; }

 private:
  class FakeSemaphore : public Semaphore {
   public:
    explicit FakeSemaphore(FakeRuntime& runtime) : runtime_(runtime) {}
    ~FakeSemaphore() override { runtime_.units_ -= units_; }
    void post() override {
      ++units_;
      ++runtime_.units_;
    }
    bool try_wait() override {
      if (units_ == 0) return false;
      --units_;
      --runtime_.units_;
      return true;
    }
    Result<void> wait() override {
      CM_ASSERT(!runtime_.inside_);
      if (try_wait()) return {};
      ++runtime_.blocked;
      if (runtime_.when_blocked) runtime_.when_blocked();
      if (try_wait()) return {};
      return errno_code(EDEADLK);
    }
    int fd() const override { return -1; }

   private:
    FakeRuntime& runtime_;
    std::size_t units_ = 0;
  };

  Instant now_{};
  bool inside_ = false;
  std::size_t entries_ = 0;
  std::size_t units_ = 0;
  std::size_t refused_semaphores_ = 0;
};

}  // namespace anyrdma::verbs::testing
