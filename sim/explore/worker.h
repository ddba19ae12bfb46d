// A forked process that executes calls for the run pool (run_pool.h), one after the other, and
// returns their results.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "sim/explore/run_pool.h"

namespace anyrdma::sim {

class Worker {
 public:
  /// A request of run_in_order(), with its number.
  struct Call {
    std::uint64_t number = 0;
    std::string request;
  };

  /// Forks; the child executes calls until this object is destroyed.
  explicit Worker(const Produce& produce);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  /// Whether give() does not wait: the child has little unread data.
  [[nodiscard]] bool has_room(std::size_t bytes) const;
  void give(Call call);
  /// The calls without a result yet, in their order.
  [[nodiscard]] const std::deque<Call>& calls() const { return calls_; }
  [[nodiscard]] std::deque<Call> take_calls() { return std::move(calls_); }
  /// Becomes readable with a result, or when the process has ended.
  [[nodiscard]] int descriptor() const { return fd_; }

  /// Reads available bytes from the child process. False: the process has ended.
  [[nodiscard]] bool read_some();
  /// The next complete result.
  [[nodiscard]] std::optional<std::string> next_result();

  /// Whether the current call has exceeded its time limit. If so, this function kills the process.
  [[nodiscard]] bool overdue(const PoolOptions& options);
  /// Returns as text why the current call has no result: how its process ended, or which limit it
  /// exceeded. Precondition: the process has ended, or overdue() returned true.
  [[nodiscard]] std::string death(const PoolOptions& options);
  /// Asks the child process to end after its current call. If that call takes too long, the
  /// destructor kills the process.
  void ask_to_end();

 private:
  using Clock = std::chrono::steady_clock;
  [[noreturn]] static void work(int fd, const Produce& produce);
  [[nodiscard]] std::chrono::nanoseconds used() const;
  void drain();
  int reap(int signal);

  pid_t pid_ = -1;
  int fd_ = -1;
  std::deque<Call> calls_;
  std::size_t bytes_given_ = 0;  ///< of calls_
  std::string read_;             ///< bytes of results that have not arrived completely
  Clock::time_point began_{};    ///< the call under way
  std::optional<std::chrono::nanoseconds> used_before_;  ///< CPU time that earlier calls took

  /// The last call took less than a millisecond.
  bool quick_ = false;
  bool late_ = false;
  bool greedy_ = false;  ///< late by its processor time
  bool asked_ = false;
  bool reaped_ = false;
};

}  // namespace anyrdma::sim
