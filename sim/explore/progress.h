// Progress messages of a long search.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace anyrdma::sim {

/// The progress of a search.
struct Standing {
  std::uint64_t runs = 0;
  std::uint64_t total = 0;
  std::uint64_t failures = 0;  ///< runs that went wrong
  std::size_t kinds = 0;       ///< of failures
  std::uint64_t others = 0;    ///< that went wrong in a way that is not looked for
  std::uint64_t bits = 0;      ///< of coverage
  std::size_t seen = 0;        ///< rare situations that have occurred, ...
  std::size_t situations = 0;  ///< the number of situations that runs reported on
};

/// Returns a line such as "125 of 1000 runs, 50/s, 18 s left, 3 failures of 1 kind, 2 of 5 rare
/// situations seen". `budget`: the limit of real time from which the remaining time is computed;
/// zero: the remaining time depends on the number of runs only.
[[nodiscard]] std::string standing_text(const Standing& standing, std::chrono::nanoseconds elapsed,
                                        std::chrono::nanoseconds budget);

/// How far a failure has been made smaller.
struct Remains {
  std::uint64_t runs = 0;   ///< that were needed
  std::size_t faults = 0;   ///< that are left
  std::size_t choices = 0;  ///< of the schedule, likewise
};

/// Returns a line such as "making it smaller: 12 runs, 2 faults and 31 choices are left".
[[nodiscard]] std::string remains_text(const Remains& remains);

/// "found by branching and pct in run 12 after 3.1 s".
[[nodiscard]] std::string find_text(std::string_view strategies, std::uint64_t run,
                                    std::chrono::nanoseconds elapsed);

/// Writes the progress of a search to stderr. On a terminal it is one line that is overwritten, and
/// removed by the destructor. Elsewhere it is a new line from time to time.
class Progress {
 public:
  Progress(bool wanted, std::chrono::nanoseconds budget);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows the progress. Callers may call it after every run, since it writes only from time to
  /// time.
  void show(const Standing& standing);
  /// Writes the first failure of a kind at once: its trial, its problem, the strategies that found
  /// it, and the command that repeats it. Shrinking of the failure begins after this call.
  void failed(std::string_view trial, std::string_view problem, std::string_view strategies,
              std::string_view command);
  /// How far that is, in the manner of show().
  void shrinks(const Remains& remains);

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] bool is_time();
  void write(const std::string& text) const;

  bool on_;
  bool terminal_;
  bool shown_ = false;
  Standing standing_{};
  std::chrono::nanoseconds budget_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

}  // namespace anyrdma::sim
