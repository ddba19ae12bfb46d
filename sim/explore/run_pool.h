// Calls a function for the numbers 0, 1, 2 ... in several processes, and consumes the results in
// the order of the numbers.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace anyrdma::sim {

struct PoolOptions {
  unsigned processes = 1;
  /// The limit of CPU time of one call. If a call exceeds this limit, its process is killed.
  std::chrono::nanoseconds processor_time = std::chrono::seconds(10);
  /// The limit of real time of one call. If a call waits for longer, its process is killed.
  std::chrono::milliseconds real_time = std::chrono::seconds(60);
  /// Called from time to time while the pool waits. If the function returns true, the pool starts
  /// no further calls and returns, as it does when `consume` returns false. May be empty.
  std::function<bool()> stop{};
  /// The largest number of calls whose results were not consumed yet. The call of `request` for the
  /// number n comes when `consume` has had exactly the results up to n - `window`. So the outcome
  /// does not depend on the number of processes.
  std::uint64_t window = 64;
};

/// Calls `produce` for the numbers 0, 1 ... up to `count` in forked processes. Its argument is the
/// result of `request`, which is called in this process. Calls `consume` in this process with each
/// number and the bytes that `produce` returned, in the order of the numbers, until it returns
/// false or all are done. If a process dies, `consume` gets its number with no bytes and the cause,
/// and another process continues. At the end, a running call gets a moment to clean up. Signals of
/// a terminal do not reach these processes, and their standard input is empty. Precondition: the
/// caller has no other threads.
using Request = std::function<std::string(std::uint64_t)>;
using Produce = std::function<std::string(std::uint64_t, const std::string& request)>;
using Consume = std::function<bool(std::uint64_t, std::string bytes, const std::string& death)>;
void run_in_order(std::uint64_t count, const PoolOptions& options, const Request& request,
                  const Produce& produce, const Consume& consume);

}  // namespace anyrdma::sim
