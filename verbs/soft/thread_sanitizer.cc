#include "verbs/soft/thread_sanitizer.h"

#include <cstdint>

extern "C" {
[[gnu::weak]] void __tsan_acquire(void* address);
[[gnu::weak]] void __tsan_release(void* address);
[[gnu::weak]] void __tsan_read_range(void* address, unsigned long size);
[[gnu::weak]] void __tsan_write_range(void* address, unsigned long size);
[[gnu::weak]] void AnnotateIgnoreReadsBegin(const char* file, int line);
[[gnu::weak]] void AnnotateIgnoreReadsEnd(const char* file, int line);
[[gnu::weak]] void AnnotateIgnoreWritesBegin(const char* file, int line);
[[gnu::weak]] void AnnotateIgnoreWritesEnd(const char* file, int line);
[[gnu::weak]] void __tsan_func_entry(void* caller);
[[gnu::weak]] void __tsan_func_exit();
[[gnu::weak]] void* __tsan_get_current_fiber();
[[gnu::weak]] void* __tsan_create_fiber(unsigned flags);
[[gnu::weak]] void __tsan_destroy_fiber(void* fiber);
[[gnu::weak]] void __tsan_switch_to_fiber(void* fiber, unsigned flags);
[[gnu::weak]] void __tsan_set_fiber_name(void* fiber, const char* name);
[[gnu::weak]] std::uint64_t __tsan_atomic64_fetch_add(volatile std::uint64_t* at,
                                                      std::uint64_t value, int order);
}

namespace anyrdma::verbs::soft::thread_sanitizer {
namespace {

constexpr unsigned kWithoutOrder = 1;  // __tsan_switch_to_fiber_no_sync
/// ThreadSanitizer ends a process with more than some 8,000 threads and fibers.
constexpr int kTimelinesMax = 2000;
int timelines = 0;  // of all devices, whose critical sections differ

bool enabled = false;

// Each is of the runtime; a test may define some of them without the rest.
bool is_present() {
  return __tsan_acquire != nullptr && __tsan_release != nullptr && __tsan_read_range != nullptr &&
         __tsan_write_range != nullptr && AnnotateIgnoreReadsBegin != nullptr &&
         AnnotateIgnoreReadsEnd != nullptr && AnnotateIgnoreWritesBegin != nullptr &&
         AnnotateIgnoreWritesEnd != nullptr && __tsan_func_entry != nullptr &&
         __tsan_func_exit != nullptr && __tsan_get_current_fiber != nullptr &&
         __tsan_create_fiber != nullptr && __tsan_destroy_fiber != nullptr &&
         __tsan_switch_to_fiber != nullptr && __tsan_set_fiber_name != nullptr &&
         __tsan_atomic64_fetch_add != nullptr;
}

void* plain(const void* sync) {
  return const_cast<void*>(sync);  // only its address counts
}

void make(const Timeline::Range& range) {
  switch (range.access) {
    case Access::kRead:
      return __tsan_read_range(range.at, range.bytes);
    case Access::kWrite:
      return __tsan_write_range(range.at, range.bytes);
    case Access::kAtomic:  // it adds nothing
      (void)__tsan_atomic64_fetch_add(static_cast<volatile std::uint64_t*>(range.at), 0,
                                      __ATOMIC_RELAXED);
      return;
  }
}

}  // namespace

void enable() {
  enabled = is_present();
}

bool is_enabled() {
  return enabled;
}

void acquire(const void* sync) {
  __tsan_acquire(plain(sync));
}

void release(const void* sync) {
  __tsan_release(plain(sync));
}

void Hidden::begin() {
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}

void Hidden::end() {
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

Timeline::~Timeline() {
  if (fiber_ == nullptr) return;
  __tsan_destroy_fiber(fiber_);
  __atomic_fetch_sub(&timelines, 1, __ATOMIC_RELAXED);
}

bool Timeline::begin() {
  if (fiber_ != nullptr) return true;
  if (__atomic_fetch_add(&timelines, 1, __ATOMIC_RELAXED) >= kTimelinesMax) {
    __atomic_fetch_sub(&timelines, 1, __ATOMIC_RELAXED);
    return false;
  }
  fiber_ = __tsan_create_fiber(0);
  __tsan_set_fiber_name(fiber_, name_.c_str());
  return true;
}

void Timeline::access(std::span<const Range> ranges, std::span<void* const> stack,
                      const void* done) {
  if (!begin()) return release(done);
  void* const caller = __tsan_get_current_fiber();
  release(&entry_);
  __tsan_switch_to_fiber(fiber_, kWithoutOrder);
  acquire(&entry_);
  for (std::size_t i = stack.size(); i > 0; --i) __tsan_func_entry(stack[i - 1]);
  for (const Range& each : ranges) make(each);
  for (std::size_t i = 0; i < stack.size(); ++i) __tsan_func_exit();
  release(done);
  __tsan_switch_to_fiber(caller, kWithoutOrder);
}

}  // namespace anyrdma::verbs::soft::thread_sanitizer
