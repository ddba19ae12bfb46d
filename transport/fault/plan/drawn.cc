#include "transport/fault/plan/drawn.h"

#include <algorithm>
#include <cstdint>
#include <variant>

namespace anyrdma::fault {
namespace {

/// Six digits tell instants of a window apart; more would only be read.
constexpr std::uint64_t kInstants = 1'000'000;
/// And two tell durations apart.
constexpr std::uint64_t kDurations = 10;

/// The power of ten of which `span` has `parts` at least; 1: it has fewer.
std::uint64_t grain_of(std::uint64_t span, std::uint64_t parts) {
  std::uint64_t grain = 1;
  while (span / grain >= parts * 10) grain *= 10;
  return grain;
}

/// A multiple of the grain from `from` on, and below `to` where there is one.
std::uint64_t draw_instant(std::uint64_t from, std::uint64_t to, verbs::Random& dice) {
  const std::uint64_t grain = grain_of(to - from, kInstants);
  const std::uint64_t first = (from + grain - 1) / grain;
  const std::uint64_t end = (to + grain - 1) / grain;
  return (first + dice.below(end - first)) * grain;
}

/// A doubling by chance, then a time within it: in whole numbers, as a logarithm is another one
/// elsewhere.
std::uint64_t draw_duration(std::uint64_t least, std::uint64_t most, verbs::Random& dice) {
  std::uint64_t doublings = 1;
  while (least << doublings < most) ++doublings;
  const std::uint64_t low = least << dice.below(doublings);
  const std::uint64_t high = std::min(low * 2, most);
  const std::uint64_t grain = grain_of(low, kDurations);
  const std::uint64_t drawn = low + dice.below(high - low + 1);
  return std::clamp(drawn / grain * grain, least, most);
}

std::uint64_t count_of(verbs::Duration time) {
  return static_cast<std::uint64_t>(time.count());
}

verbs::Duration time_of(std::uint64_t count) {
  return verbs::Duration(static_cast<std::int64_t>(count));
}

}  // namespace

bool leaves_open(const Fault& fault) {
  return std::holds_alternative<BetweenTimes>(fault.trigger) ||
         fault.lasts.least != fault.lasts.most;
}

Fault resolved(const Fault& fault, verbs::Random& dice) {
  Fault drawn = fault;
  if (const auto* between = std::get_if<BetweenTimes>(&fault.trigger)) {
    const std::uint64_t instant =
        draw_instant(count_of(between->from), count_of(between->to), dice);
    drawn.trigger = AtTime{time_of(instant)};
  }
  const Lasting& lasts = fault.lasts;
  if (lasts.least != lasts.most) {
    drawn.lasts = time_of(draw_duration(count_of(lasts.least), count_of(lasts.most), dice));
  }
  return drawn;
}

}  // namespace anyrdma::fault
