// Performing scenarios on the backend that is linked in.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

/// What a scenario shows here, in this very process; `number` is its index in scenarios().
[[nodiscard]] std::vector<std::string> perform(std::size_t number);

/// Performances in processes of their own, which real time calls for: they wait side by side, and
/// what hangs or crashes is a record like any other. Not for two threads at once; the process has
/// no other threads.
class Performances {
 public:
  Performances() = default;
  ~Performances();
  Performances(const Performances&) = delete;
  Performances& operator=(const Performances&) = delete;

  /// Starts these now and then, several at once, in their order; slow ones all at the beginning.
  void plan(const std::vector<std::size_t>& numbers);
  /// Starts it unless that has been done, and waits for its end. What does not end in time ends
  /// with the line "it does not end", what crashes with "it crashes", after what came before.
  [[nodiscard]] std::vector<std::string> of(std::size_t number);

 private:
  struct Running {
    pid_t process = -1;
    int pipe = -1;
    bool slow = false;
    std::chrono::steady_clock::time_point deadline{};
    std::string text{};
  };
  void start(std::size_t number);
  void start_planned();
  /// Waits for news from any of them.
  void wait();
  void end(std::size_t number, Running& running, bool in_time);

  std::deque<std::size_t> planned_;
  std::map<std::size_t, Running> running_;
  std::map<std::size_t, std::vector<std::string>> ended_;
};

}  // namespace anyrdma::conformance
