// How far a long search is, for whoever waits for it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace anyrdma::sim {

/// "12345 of 100000 runs, 5000/s, 1 kind of failure" on stderr: on a terminal in one line that goes
/// when this does, elsewhere as a line now and then.
class Progress {
 public:
  explicit Progress(bool wanted);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// As often as one likes; it is seldom written.
  void show(std::uint64_t runs, std::uint64_t total, std::size_t kinds);
  /// What was last shown, and that a failure is made smaller now.
  void shrinking();

 private:
  using Clock = std::chrono::steady_clock;
  void write(const char* what) const;

  bool on_;
  bool terminal_;
  bool shown_ = false;
  std::uint64_t runs_ = 0;
  std::uint64_t total_ = 0;
  std::size_t kinds_ = 0;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

}  // namespace anyrdma::sim
