#include "sim/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace anyrdma::sim {
namespace {

constexpr std::chrono::milliseconds kOnTerminal = std::chrono::milliseconds(500);
/// In a log, which somebody reads tomorrow.
constexpr std::chrono::milliseconds kElsewhere = std::chrono::seconds(30);

}  // namespace

Progress::Progress(bool wanted) : on_(wanted), terminal_(::isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (shown_ && terminal_) std::fprintf(stderr, "\r\033[K");
}

void Progress::show(std::uint64_t runs, std::uint64_t total, std::size_t kinds) {
  if (!on_) return;
  runs_ = runs;
  total_ = total;
  kinds_ = kinds;
  const Clock::time_point now = Clock::now();
  const bool first = terminal_ && !shown_;
  if (!first && now - last_ < (terminal_ ? kOnTerminal : kElsewhere)) return;
  shown_ = true;
  last_ = now;
  write("");
}

void Progress::shrinking() {
  if (on_ && terminal_ && total_ != 0) shown_ = true, write(", making one smaller");
}

void Progress::write(const char* what) const {
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  std::fprintf(stderr, "%s%llu of %llu runs, %.0f/s, %zu kind%s of failures%s%s",
               terminal_ ? "\r\033[K" : "anyrdma: ", static_cast<unsigned long long>(runs_),
               static_cast<unsigned long long>(total_),
               static_cast<double>(runs_) / std::max(seconds, 0.001), kinds_,
               kinds_ == 1 ? "" : "s", what, terminal_ ? "" : "\n");
}

}  // namespace anyrdma::sim
