#include "sim/explain/ends.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "sim/explain/fork.h"

namespace anyrdma::sim::explain {
namespace {

constexpr std::size_t kMost = 64;  ///< steps of a mover

/// A run whose steps have another order from a step on.
struct Order {
  std::size_t begin = 0;                ///< the number of steps that stay
  std::vector<std::uint64_t> movers{};  ///< of the others
};

class EndSearch {
 public:
  EndSearch(const CriticalPair& pair, const Judge& judge) : pair_(pair), judge_(judge) {}

  std::vector<CriticalPair> run() {
    auto answers = judge_({{.trial = pair_.fails, .parts = pair_.time, .keeps_steps = true}});
    if (answers.empty()) return {};
    steps_ = std::move(answers.front().steps);
    if (pair_.step >= steps_.size() || steps_[pair_.step].mover != pair_.first) return {};
    second_ = next_of(pair_.second, pair_.step + 1);
    if (second_ == steps_.size()) return {};
    search(steps_before(), [this](std::size_t place) { return with_second_later(place); });
    search(steps_after(), [this](std::size_t place) { return with_first_earlier(place); });
    return std::move(found_);
  }

 private:
  [[nodiscard]] std::size_t next_of(std::uint64_t mover, std::size_t from) const {
    while (from < steps_.size() && steps_[from].mover != mover) ++from;
    return from;
  }

  /// Those of the second mover before the pair, the last one first.
  [[nodiscard]] std::vector<std::size_t> steps_before() const {
    std::vector<std::size_t> places;
    for (std::size_t i = pair_.step; i > 0 && places.size() < kMost; --i)
      if (steps_[i - 1].mover == pair_.second) places.push_back(i - 1);
    return places;
  }

  /// Those of the first mover after the pair.
  [[nodiscard]] std::vector<std::size_t> steps_after() const {
    std::vector<std::size_t> places;
    for (std::size_t i = next_of(pair_.first, second_ + 1);
         i < steps_.size() && places.size() < kMost; i = next_of(pair_.first, i + 1))
      places.push_back(i);
    return places;
  }

  /// The second mover's steps from `place` on come behind the first step of the pair.
  [[nodiscard]] Order with_second_later(std::size_t place) const {
    return with_moved(place, pair_.step);
  }

  /// The first mover's steps up to `place` come before the second step of the pair.
  [[nodiscard]] Order with_first_earlier(std::size_t place) const {
    return with_moved(second_, place);
  }

  /// The second mover's steps from `begin` to `end` come behind step `end`.
  [[nodiscard]] Order with_moved(std::size_t begin, std::size_t end) const {
    Order order{.begin = begin};
    std::size_t moved = 0;
    for (std::size_t i = begin; i < steps_.size(); ++i) {
      const bool moves = i < end && steps_[i].mover == pair_.second;
      moved += moves ? 1 : 0;
      if (!moves) order.movers.push_back(steps_[i].mover);
      if (i == end) order.movers.insert(order.movers.end(), moved, pair_.second);
    }
    return order;
  }

  [[nodiscard]] Trial up_to(std::size_t step) const {
    return with_choices(pair_.fails,
                        choices_before(pair_.fails.schedule.deviations, steps_[step].point));
  }

  [[nodiscard]] Probe probe(Order order) const {
    return {.trial = up_to(order.begin),
            .script = std::move(order.movers),
            .script_from = order.begin,
            .parts = steps_[order.begin].time};
  }

  /// Moves more and more steps, twice as many each time, until the run passes.
  void search(const std::vector<std::size_t>& places,
              const std::function<Order(std::size_t place)>& order_of) {
    std::vector<Probe> probes;
    for (std::size_t count = 1; count < places.size(); count *= 2)
      probes.push_back(probe(order_of(places[count - 1])));
    if (!places.empty()) probes.push_back(probe(order_of(places.back())));
    if (probes.empty()) return;
    const auto answers = judge_(probes);
    if (answers.size() < probes.size()) return;
    const auto passes =
        std::ranges::find_if(answers, [](const Answer& each) { return !each.fails(); });
    if (passes == answers.end()) return;
    Probe probe = probes[static_cast<std::size_t>(passes - answers.begin())];
    probe.keeps_steps = true;
    const auto passing = judge_({probe});
    if (passing.empty()) return;
    const std::size_t common = in_common(steps_, passing.front().steps);
    if (common == steps_.size()) return;
    const Trial trial = up_to(common);
    const auto pair = find_pair_between(trial, steps_, passing.front().steps, judge_);
    if (pair && is_new(*pair)) found_.push_back(*pair);
  }

  [[nodiscard]] bool is_new(const CriticalPair& pair) const {
    const auto same = [&](const CriticalPair& other) {
      return pair.step == other.step && pair.first == other.first && pair.second == other.second;
    };
    return !same(pair_) && std::ranges::none_of(found_, same);
  }

  const CriticalPair& pair_;
  const Judge& judge_;
  std::vector<Step> steps_;  ///< of the failing run
  std::size_t second_ = 0;   ///< the step of the pair's second mover in that run
  std::vector<CriticalPair> found_;
};

}  // namespace

std::vector<CriticalPair> find_ends(const CriticalPair& pair, const Judge& judge) {
  return EndSearch(pair, judge).run();
}

}  // namespace anyrdma::sim::explain
