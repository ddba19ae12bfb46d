#include "tools/run_progress.h"

#include <unistd.h>

#include <cstdio>

#include "base/text.h"

namespace anyrdma::tools {
namespace {

constexpr std::chrono::milliseconds kFirst = std::chrono::seconds(2);
constexpr std::chrono::milliseconds kOnTerminal = std::chrono::milliseconds(500);
/// In a log, which somebody reads tomorrow, or compares with another run's.
constexpr std::chrono::milliseconds kElsewhere = std::chrono::minutes(5);

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

std::string text_of(const RunStanding& standing, std::chrono::nanoseconds elapsed) {
  std::string text;
  anyrdma::append(
      text, "%.3g s of virtual time after %.0f s, %zu program%s; it ends at %.6g s at the latest",
      seconds(standing.now), seconds(elapsed), standing.running,
      standing.running == 1 ? " runs" : "s run", seconds(standing.limit));
  return text;
}

RunProgress::RunProgress(bool wanted)
    : on_(wanted),
      terminal_(::isatty(STDERR_FILENO) != 0),
      next_(start_ + (terminal_ ? kFirst : kElsewhere)) {}

bool RunProgress::due() {
  return on_ && Clock::now() >= next_;
}

void RunProgress::show(const RunStanding& standing) {
  next_ = Clock::now() + (terminal_ ? kOnTerminal : kElsewhere);
  shown_ = terminal_;
  std::fprintf(stderr, "%s%s%s", terminal_ ? "\r\033[K" : "anyrdma: ",
               text_of(standing, Clock::now() - start_).c_str(), terminal_ ? "" : "\n");
}

void RunProgress::clear() {
  if (shown_) std::fprintf(stderr, "\r\033[K");
  shown_ = false;
}

}  // namespace anyrdma::tools
