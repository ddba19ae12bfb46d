// Progress of a simulated run, for a user who waits for it.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "verbs/time.h"

namespace anyrdma::tools {

/// Where a run of programs is.
struct RunStanding {
  verbs::Duration now{};    ///< virtual
  verbs::Duration limit{};  ///< at which it ends
  std::size_t running = 0;  ///< programs that have not ended
};

/// Returns a line such as "12 s of virtual time after 3 s, 2 programs run; it ends at 3600 s at the
/// latest".
[[nodiscard]] std::string text_of(const RunStanding& standing, std::chrono::nanoseconds elapsed);

/// Writes the progress of a long run to stderr. On a terminal, it is one line that is removed
/// before other output; elsewhere it is a new line from time to time.
class RunProgress {
 public:
  explicit RunProgress(bool wanted);
  ~RunProgress() { clear(); }
  RunProgress(const RunProgress&) = delete;
  RunProgress& operator=(const RunProgress&) = delete;

  /// Whether it is time for `show`; as often as one likes.
  [[nodiscard]] bool due();
  void show(const RunStanding& standing);
  /// Something else is about to be printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool on_;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_;
};

}  // namespace anyrdma::tools
