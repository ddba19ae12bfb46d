// Notifies AddressSanitizer and ThreadSanitizer when the simulator switches between the stacks of
// fibers (user-space threads). The classes are empty in ordinary builds.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define ANYRDMA_ASAN_FIBERS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ANYRDMA_ASAN_FIBERS 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define ANYRDMA_TSAN_FIBERS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ANYRDMA_TSAN_FIBERS 1
#endif
#endif

#ifdef ANYRDMA_ASAN_FIBERS
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef ANYRDMA_TSAN_FIBERS
#include <sanitizer/tsan_interface.h>
#endif

namespace anyrdma::sim {

/// The stack of the thread that runs the fibers.
struct SanitizerThread {
  void* fake_stack = nullptr;
  const void* bottom = nullptr;
  std::size_t size = 0;
  void* tsan = nullptr;
};

/// The stack of one fiber, and the calls at the four moments of a switch between thread and fiber.
class SanitizerFiber {
 public:
  void create([[maybe_unused]] void* top, [[maybe_unused]] std::size_t bytes) {
#ifdef ANYRDMA_ASAN_FIBERS
    bottom_ = static_cast<char*>(top) - bytes;
    size_ = bytes;
#endif
#ifdef ANYRDMA_TSAN_FIBERS
    tsan_ = __tsan_create_fiber(0);
#endif
  }
  void destroy() {
#ifdef ANYRDMA_TSAN_FIBERS
    __tsan_destroy_fiber(tsan_);
#endif
  }
  /// Call it on the thread, before the thread switches into the fiber.
  void before_resume([[maybe_unused]] SanitizerThread& thread) {
#ifdef ANYRDMA_ASAN_FIBERS
    __sanitizer_start_switch_fiber(&thread.fake_stack, bottom_, size_);
#endif
#ifdef ANYRDMA_TSAN_FIBERS
    thread.tsan = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(tsan_, 0);
#endif
  }
  void after_resume([[maybe_unused]] SanitizerThread& thread) {
#ifdef ANYRDMA_ASAN_FIBERS
    __sanitizer_finish_switch_fiber(thread.fake_stack, nullptr, nullptr);
#endif
#ifdef ANYRDMA_TSAN_FIBERS
    // The switch is reported here and not in leaving(). When a fiber ends, it still returns from
    // functions that were entered on its shadow stack, so they must be popped from that stack.
    __tsan_switch_to_fiber(thread.tsan, 0);
#endif
  }
  /// Call it on the fiber, as the first thing after every switch into it.
  void arrived([[maybe_unused]] SanitizerThread& thread) {
#ifdef ANYRDMA_ASAN_FIBERS
    __sanitizer_finish_switch_fiber(fake_stack_, &thread.bottom, &thread.size);
#endif
  }
  /// Call it on the fiber, as the last thing before it switches away; `forever`: the fiber ends.
  void leaving([[maybe_unused]] SanitizerThread& thread, [[maybe_unused]] bool forever) {
#ifdef ANYRDMA_ASAN_FIBERS
    __sanitizer_start_switch_fiber(forever ? nullptr : &fake_stack_, thread.bottom, thread.size);
#endif
  }

#ifdef ANYRDMA_ASAN_FIBERS
 private:
  void* fake_stack_ = nullptr;
  const void* bottom_ = nullptr;
  std::size_t size_ = 0;
#endif
#ifdef ANYRDMA_TSAN_FIBERS
 private:
  void* tsan_ = nullptr;
#endif
};

}  // namespace anyrdma::sim
