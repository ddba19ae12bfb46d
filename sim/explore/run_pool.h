// The same function for many numbers, in several processes, with the results in order.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace anyrdma::sim {

struct PoolOptions {
  unsigned processes = 1;
  /// How much of a processor's time a single call may take before its process is killed.
  std::chrono::nanoseconds processor_time = std::chrono::seconds(10);
  /// How much real time it may take: for one that waits for what never comes.
  std::chrono::milliseconds real_time = std::chrono::seconds(60);
  /// Asked now and then while waiting: true ends the search as `consume` does. Empty: nobody asks.
  std::function<bool()> stop{};
  /// How many results at most are outstanding. Whatever the number of processes, `request` for a
  /// number is called when `consume` has had exactly the results up to that number less this one.
  std::uint64_t window = 64;
};

/// Calls `produce` for 0, 1 ... up to `count` in forked processes, with what `request` has given
/// here for that number, and `consume` here, with the number and the bytes that came of it, in
/// their order whichever process was quicker; until it returns false or all are done. When a
/// process dies or is killed meanwhile, `consume` is given its number with no bytes and the cause,
/// and another process goes on behind it. At the end a call that is under way has a moment to end,
/// so that it can clean up. What a terminal sends to its foreground does not reach these
/// processes, and their standard input is empty. The caller must have no other threads.
using Request = std::function<std::string(std::uint64_t)>;
using Produce = std::function<std::string(std::uint64_t, const std::string& request)>;
using Consume = std::function<bool(std::uint64_t, std::string bytes, const std::string& death)>;
void run_in_order(std::uint64_t count, const PoolOptions& options, const Request& request,
                  const Produce& produce, const Consume& consume);

}  // namespace anyrdma::sim
