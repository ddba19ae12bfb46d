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
  std::uint64_t others = 0;    ///< failures that ExploreOptions::only excludes
  std::uint64_t bits = 0;      ///< of coverage
  std::size_t seen = 0;        ///< rare situations that have occurred, ...
  std::size_t situations = 0;  ///< the number of situations that runs reported on
};

/// Returns one line that describes how far a search is. Example: "125 of 1000 runs, 50/s, 18 s
/// left, 3 failures of 1 kind, 2 of 5 rare situations seen". `budget`: the limit of real time, from
/// which the remaining time is computed. If it is zero, the number of runs alone gives the
/// remaining time.
[[nodiscard]] std::string standing_text(const Standing& standing, std::chrono::nanoseconds elapsed,
                                        std::chrono::nanoseconds budget);

/// How far a failure has been made smaller.
struct Remains {
  std::uint64_t runs = 0;   ///< that were needed
  std::size_t faults = 0;   ///< that are left
  std::size_t choices = 0;  ///< of the schedule, likewise
};

/// Returns a line that describes how far shrinking is, such as "making it smaller: 12 runs, 2
/// faults and 31 choices are left".
[[nodiscard]] std::string remains_text(const Remains& remains);

/// Returns a text such as "found by branching and pct in run 12 after 3.1 s".
[[nodiscard]] std::string find_text(std::string_view strategies, std::uint64_t run,
                                    std::chrono::nanoseconds elapsed);

/// Writes the progress of a search to stderr. On a terminal, the progress is one line that is
/// overwritten, and that the destructor removes. Otherwise each report is a new line.
class Progress {
 public:
  Progress(bool wanted, std::chrono::nanoseconds budget);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows the progress. Callers may call show() after every run, since it writes only from time to
  /// time.
  void show(const Standing& standing);
  /// Writes the first failure of a kind at once: its trial, its problem, the strategies that found
  /// it, and the command that repeats it. Call this function before the failure is shrunk.
  void failed(std::string_view trial, std::string_view problem, std::string_view strategies,
              std::string_view command);
  /// Shows how far the shrinking of a failure is. Like show(), it writes only from time to time.
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
