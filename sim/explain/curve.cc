#include "sim/explain/curve.h"

#include <algorithm>
#include <cmath>

namespace anyrdma::sim::explain {
namespace {

/// The same run up to the decision.
Trial until(Trial trial, std::uint64_t decision, std::uint64_t seed) {
  std::erase_if(trial.schedule.deviations,
                [&](const Deviation& each) { return each.point >= decision; });
  std::erase_if(trial.schedule.branches,
                [&](const Branch& each) { return each.until >= decision; });
  trial.schedule.branches.push_back({.until = decision, .seed = seed});
  return trial;
}

class Drawing {
 public:
  Drawing(Curve& curve, const Trial& failing, const Answer& run, const Judge& judge,
          const CurveOptions& options)
      : failing_(failing), run_(run), judge_(judge), options_(options), curve_(curve) {}

  void begin() {
    const std::uint64_t choices = run_.outcome.choices;
    curve_.points.push_back(
        {.decision = choices, .time = time_of(choices), .runs = 1, .failures = 1});
    if (choices != 0 && measure(0)) bisect([this] { return last(); }, ~std::size_t{0});
    find_jump();
  }

  void complete() {
    bisect([this] { return next(); }, options_.points);
    find_jump();
  }

 private:
  template <class Middle>
  void bisect(const Middle& middle_of, std::size_t points) {
    while (curve_.points.size() < points) {
      const std::optional<std::uint64_t> middle = middle_of();
      if (!middle || !measure(*middle)) return;
    }
  }

  void find_jump() {
    curve_.jump = 0;
    for (std::size_t i = 1; i + 1 < curve_.points.size(); ++i) {
      if (rise(i) > rise(curve_.jump)) curve_.jump = i;
    }
  }

  [[nodiscard]] double rise(std::size_t i) const {
    return curve_.points[i + 1].share() - curve_.points[i].share();
  }

  [[nodiscard]] verbs::Duration time_of(std::uint64_t decision) const {
    const auto step = std::ranges::find_if(
        run_.steps, [&](const Step& each) { return each.decided && each.point >= decision; });
    if (step != run_.steps.end()) return step->time;
    return run_.steps.empty() ? verbs::Duration::zero() : run_.steps.back().time;
  }

  /// Between the last decision from which a run passed and the next one, from which none did.
  [[nodiscard]] std::optional<std::uint64_t> last() const {
    std::size_t i = curve_.points.size() - 1;
    while (i > 0 && curve_.points[i - 1].failures == curve_.points[i - 1].runs) --i;
    if (i == 0) return std::nullopt;
    const std::uint64_t passes = curve_.points[i - 1].decision;
    const std::uint64_t width = curve_.points[i].decision - passes;
    if (width < 2) return std::nullopt;
    return passes + width / 2;
  }

  /// Where the share changes most there is most to learn; the wider of two such intervals first.
  [[nodiscard]] std::optional<std::uint64_t> next() const {
    std::optional<std::size_t> best;
    const auto width = [&](std::size_t i) {
      return curve_.points[i + 1].decision - curve_.points[i].decision;
    };
    for (std::size_t i = 0; i + 1 < curve_.points.size(); ++i) {
      if (width(i) < 2) continue;
      if (!best || std::abs(rise(i)) > std::abs(rise(*best)) ||
          (std::abs(rise(i)) == std::abs(rise(*best)) && width(i) > width(*best)))
        best = i;
    }
    if (!best) return std::nullopt;
    return curve_.points[*best].decision + width(*best) / 2;
  }

  /// False: the search is over.
  [[nodiscard]] bool measure(std::uint64_t decision) {
    std::vector<Probe> probes;
    for (std::size_t i = 0; i < options_.runs; ++i) {
      const std::uint64_t seed = failing_.seed + 1 + i;
      probes.push_back({.trial = until(failing_, decision, seed),
                        .drawn = Drawn{.from = decision, .seed = seed},
                        .parts = time_of(decision)});
    }
    const auto answers = judge_(probes);
    if (answers.size() < probes.size()) return false;
    CurvePoint point{.decision = decision, .time = time_of(decision), .runs = answers.size()};
    const Answer* passes = nullptr;
    std::size_t which = 0;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      point.failures += answers[i].fails() ? 1 : 0;
      if (answers[i].fails() || passes != nullptr) continue;
      passes = &answers[i];
      which = i;
    }
    if (passes != nullptr && (!curve_.passing || decision > curve_.passing->from)) {
      curve_.passing = Curve::Passing{.from = decision,
                                      .time = point.time,
                                      .choices = passes->outcome.deviations,
                                      .branches = probes[which].trial.schedule.branches};
    }
    const auto place = std::ranges::find_if(
        curve_.points, [&](const CurvePoint& each) { return each.decision > decision; });
    curve_.points.insert(place, point);
    return true;
  }

  const Trial& failing_;
  const Answer& run_;
  const Judge& judge_;
  const CurveOptions& options_;
  Curve& curve_;
};

}  // namespace

Curve begin_curve(const Trial& failing, const Answer& run, const Judge& judge,
                  const CurveOptions& options) {
  Curve curve;
  Drawing(curve, failing, run, judge, options).begin();
  return curve;
}

void complete_curve(Curve& curve, const Trial& failing, const Answer& run, const Judge& judge,
                    const CurveOptions& options) {
  Drawing(curve, failing, run, judge, options).complete();
}

}  // namespace anyrdma::sim::explain
