// Runs a function for many numbers in several processes, with the results in order.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace anyrdma::sim {

struct PoolOptions {
  unsigned processes = 1;
  /// The limit of CPU time of a single call; then its process is killed.
  std::chrono::nanoseconds processor_time = std::chrono::seconds(10);
  /// Limit of real time of a call, for a call that never returns.
  std::chrono::milliseconds real_time = std::chrono::seconds(60);
  /// Called now and then while waiting; true ends the search as `consume` does. May be empty.
  std::function<bool()> stop{};
  /// The largest number of outstanding results. For any number of processes, `request` for a number
  /// is called when `consume` has had exactly the results up to that number minus `window`.
  std::uint64_t window = 64;
};

/// Calls `produce` for 0, 1 ... up to `count` in forked processes, with the result of `request` in
/// this process for that number. Calls `consume` in this process with each number and its bytes, in
/// the order of the numbers, until it returns false or all are done. If a process dies, `consume`
/// gets its number with no bytes and the cause, and another process goes on. At the end, a running
/// call gets a moment to clean up. Signals of a terminal do not reach these processes, and their
/// standard input is empty. Precondition: the caller has no other threads.
using Request = std::function<std::string(std::uint64_t)>;
using Produce = std::function<std::string(std::uint64_t, const std::string& request)>;
using Consume = std::function<bool(std::uint64_t, std::string bytes, const std::string& death)>;
void run_in_order(std::uint64_t count, const PoolOptions& options, const Request& request,
                  const Produce& produce, const Consume& consume);

}  // namespace anyrdma::sim
