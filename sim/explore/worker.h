// A forked process that executes calls, one after the other, and returns their results.
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

  /// Reads the available bytes. False: the process has ended.
  [[nodiscard]] bool read_some();
  /// The next complete result.
  [[nodiscard]] std::optional<std::string> next_result();

  /// Whether the current call has exceeded its time limit. If so, the process is killed.
  [[nodiscard]] bool overdue(const PoolOptions& options);
  /// Returns why the current call has no result, as text. Precondition: the process has ended, or
  /// overdue() returned true.
  [[nodiscard]] std::string death(const PoolOptions& options);
  /// Asks the child process to end after its current call, unless that call takes long.
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
  std::string read_;             ///< of results that are not here as a whole
  Clock::time_point began_{};    ///< the call under way
  std::optional<std::chrono::nanoseconds> used_before_;  ///< of a processor, by earlier calls
  bool quick_ = false;                                   ///< the last call took no millisecond
  bool late_ = false;
  bool greedy_ = false;  ///< late by its processor time
  bool asked_ = false;
  bool reaped_ = false;
};

}  // namespace anyrdma::sim
