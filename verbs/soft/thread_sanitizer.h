// The functions of ThreadSanitizer's runtime that tell it about accesses and order which it cannot
// see (compiler-rt's tsan_interface.h), as far as the process has them.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace anyrdma::verbs::soft::thread_sanitizer {

/// From now on the process's software devices report to it, if the program is built with
/// -fsanitize=thread, by gcc or clang. Call it before a device is made.
void enable();
[[nodiscard]] bool is_enabled();

/// Orders the following accesses of this thread after all that precede release() of the same
/// address.
void acquire(const void* sync);
void release(const void* sync);

/// Hides the calling thread's accesses: when it carries out what a device does, the device's
/// timeline has the accesses.
class Hidden {
 public:
  Hidden() : hidden_(is_enabled()) {
    if (hidden_) begin();
  }
  ~Hidden() {
    if (hidden_) end();
  }
  Hidden(const Hidden&) = delete;
  Hidden& operator=(const Hidden&) = delete;

 private:
  static void begin();
  static void end();
  const bool hidden_;
};

/// An access by a device, which no thread of the program makes.
enum class Access : unsigned char { kRead, kWrite, kAtomic };

/// A device's own line of time: like a thread, it is ordered with others only by what it acquires.
/// Must not be copied. Threads: one at a time.
class Timeline {
 public:
  /// `name` is how reports call it.
  explicit Timeline(std::string name) : name_(std::move(name)) {}
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  /// Memory that a device reads or writes.
  struct Range {
    void* at;
    std::size_t bytes;
    Access access;
  };
  /// The accesses are made here, after all that the calling thread has done so far. Reports show
  /// `stack`, innermost return address first, as their stack. Afterwards `done` is released.
  void access(std::span<const Range> ranges, std::span<void* const> stack, const void* done);

 private:
  [[nodiscard]] bool begin();

  std::string name_;
  void* fiber_ = nullptr;  ///< null: not made yet
  char entry_ = 0;         ///< its address: what the calling thread has done
};

}  // namespace anyrdma::verbs::soft::thread_sanitizer
