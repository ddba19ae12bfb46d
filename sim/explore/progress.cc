#include "sim/explore/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/text.h"

namespace anyrdma::sim {
namespace {

constexpr std::chrono::milliseconds kOnTerminal = std::chrono::milliseconds(500);
/// In a log, which somebody reads tomorrow.
constexpr std::chrono::milliseconds kElsewhere = std::chrono::seconds(30);

const char* plural(std::uint64_t count) {
  return count == 1 ? "" : "s";
}

/// "18 s", "4 min", "2 h": nobody needs more.
std::string rough(double seconds) {
  constexpr double kMinute = 60;
  constexpr double kHour = 60 * kMinute;
  std::string text;
  if (seconds < 2 * kMinute) {
    append(text, "%.0f s", seconds);
  } else if (seconds < 2 * kHour) {
    append(text, "%.0f min", seconds / kMinute);
  } else {
    append(text, "%.0f h", seconds / kHour);
  }
  return text;
}

}  // namespace

std::string standing_text(const Standing& standing, std::chrono::nanoseconds elapsed,
                          std::chrono::nanoseconds budget) {
  const double seconds = std::max(std::chrono::duration<double>(elapsed).count(), 0.001);
  const double rate = static_cast<double>(standing.runs) / seconds;
  std::string text;
  append(text, "%llu of %llu runs, %.*f/s", static_cast<unsigned long long>(standing.runs),
         static_cast<unsigned long long>(standing.total), rate < 10 ? 1 : 0, rate);
  if (standing.runs != 0) {
    const std::uint64_t missing =
        standing.total > standing.runs ? standing.total - standing.runs : 0;
    double left = static_cast<double>(missing) / rate;
    if (budget.count() != 0)
      left = std::min(left, std::max(std::chrono::duration<double>(budget - elapsed).count(), 0.0));
    text += ", " + rough(left) + " left";
  }
  append(text, ", %llu failure%s", static_cast<unsigned long long>(standing.failures),
         plural(standing.failures));
  if (standing.failures != 0)
    append(text, " of %zu kind%s", standing.kinds, plural(standing.kinds));
  if (standing.others != 0)
    append(text, ", %llu others", static_cast<unsigned long long>(standing.others));
  if (standing.bits != 0)
    append(text, ", %llu bits of coverage", static_cast<unsigned long long>(standing.bits));
  if (standing.situations != 0) {
    append(text, ", %zu of %zu rare situation%s seen", standing.seen, standing.situations,
           plural(standing.situations));
  }
  return text;
}

std::string remains_text(const Remains& remains) {
  std::string text = "making it smaller: ";
  append(text, "%llu run%s, %zu fault%s and %zu choice%s are left",
         static_cast<unsigned long long>(remains.runs), plural(remains.runs), remains.faults,
         plural(remains.faults), remains.choices, plural(remains.choices));
  return text;
}

std::string find_text(std::string_view strategies, std::uint64_t run,
                      std::chrono::nanoseconds elapsed) {
  std::string text = "found by " + std::string(strategies);
  append(text, " in run %llu after %.1f s", static_cast<unsigned long long>(run),
         std::chrono::duration<double>(elapsed).count());
  return text;
}

Progress::Progress(bool wanted, std::chrono::nanoseconds budget)
    : on_(wanted), terminal_(::isatty(STDERR_FILENO) != 0), budget_(budget) {}

Progress::~Progress() {
  if (shown_ && terminal_) std::fprintf(stderr, "\r\033[K");
}

bool Progress::is_time() {
  const Clock::time_point now = Clock::now();
  const bool first = terminal_ && !shown_;
  if (!first && now - last_ < (terminal_ ? kOnTerminal : kElsewhere)) return false;
  shown_ = true;
  last_ = now;
  return true;
}

void Progress::show(const Standing& standing) {
  if (!on_) return;
  standing_ = standing;
  if (is_time()) write(standing_text(standing_, Clock::now() - start_, budget_));
}

void Progress::failed(std::string_view trial, std::string_view problem, std::string_view strategies,
                      std::string_view command) {
  if (!on_) return;
  const std::string_view line = problem.substr(0, problem.find('\n'));
  const std::string_view rest = problem.substr(std::min(line.size() + 1, problem.size()));
  std::fprintf(stderr, "%sanyrdma: run %llu fails: %.*s (%.*s)\n%.*s%s\nagain: %.*s\n",
               terminal_ ? "\r\033[K" : "", static_cast<unsigned long long>(standing_.runs),
               static_cast<int>(line.size()), line.data(), static_cast<int>(trial.size()),
               trial.data(), static_cast<int>(rest.size()), rest.data(),
               find_text(strategies, standing_.runs, Clock::now() - start_).c_str(),
               static_cast<int>(command.size()), command.data());
  last_ = Clock::now();
  shown_ = terminal_;
  write("making it smaller");
}

void Progress::shrinks(const Remains& remains) {
  if (on_ && is_time()) write(remains_text(remains));
}

void Progress::write(const std::string& text) const {
  std::fprintf(stderr, "%s%s%s", terminal_ ? "\r\033[K" : "anyrdma: ", text.c_str(),
               terminal_ ? "" : "\n");
}

}  // namespace anyrdma::sim
