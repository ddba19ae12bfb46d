// Instrumented blocks of a program (coverage.h): now and then one is a scheduling point. How many
// blocks lie between two of them the world says, so that a program that computes is not stopped at
// each.
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "sim/points/mark_call.h"

namespace {

/// Of the process: one thread of it runs at a time.
std::atomic<std::int64_t> blocks_left{1};

}  // namespace

extern "C" void anyrdma_guard(std::uint32_t block) {
  if (blocks_left.fetch_sub(1, std::memory_order_relaxed) > 1) return;
  const int error = errno;
  const long next = ::syscall(anyrdma::sim::kGuardCall, block);
  errno = error;
  blocks_left.store(next > 0 ? next : INT64_MAX, std::memory_order_relaxed);
}
