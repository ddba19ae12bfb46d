#include "sim/explain/window.h"

#include <variant>

#include "sim/explain/bisect.h"

namespace anyrdma::sim::explain {
namespace {

constexpr std::size_t kPieces = 4096;

struct Side {
  verbs::Duration fails{};
  std::optional<verbs::Duration> passes{};
};

/// Between `at`, where the run fails, and `limit`.
std::optional<Side> bisect_side(const Trial& failing, std::size_t fault, verbs::Duration at,
                                verbs::Duration limit, const Judge& judge) {
  if (at == limit) return Side{.fails = at};
  const auto instant = [&](std::size_t number) {
    return at + (limit - at) * static_cast<std::int64_t>(number) / std::int64_t{kPieces};
  };
  const auto verdicts = [&](const std::vector<std::size_t>& numbers) {
    std::vector<Probe> probes;
    for (const std::size_t number : numbers) {
      probes.push_back({.trial = failing});
      probes.back().trial.plan.faults[fault].trigger = AtTime{instant(number)};
    }
    std::vector<bool> fails;
    for (const Answer& each : judge(probes)) fails.push_back(each.fails());
    return fails;
  };
  const auto at_limit = verdicts({kPieces});
  if (at_limit.empty()) return std::nullopt;
  if (at_limit.front()) return Side{.fails = limit};
  const auto last = bisect(0, kPieces, true, verdicts);
  if (!last) return std::nullopt;
  return Side{.fails = instant(*last), .passes = instant(*last + 1)};
}

}  // namespace

bool has_instant(const Fault& fault) {
  return std::holds_alternative<AtTime>(fault.trigger);
}

std::optional<Window> find_window(const Trial& failing, std::size_t fault, verbs::Duration end,
                                  const Judge& judge) {
  const verbs::Duration at = std::get<AtTime>(failing.plan.faults[fault].trigger).time;
  const auto earlier = bisect_side(failing, fault, at, verbs::Duration::zero(), judge);
  if (!earlier) return std::nullopt;
  const auto later = bisect_side(failing, fault, at, std::max(at, end), judge);
  if (!later) return std::nullopt;
  return Window{.first = earlier->fails,
                .last = later->fails,
                .before = earlier->passes,
                .after = later->passes};
}

}  // namespace anyrdma::sim::explain
