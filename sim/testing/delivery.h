// Judges a stream of numbered items, such as messages or blocks, that a program delivers over
// several rails: nothing lost, nothing twice, in order if promised, and again within a stated time
// after a rail has failed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "verbs/time.h"

namespace anyrdma::sim::testing {

/// The promises of a program about its items.
struct DeliveryPromise {
  /// How many items the program is given, numbered from 0.
  std::uint64_t items = 32;
  bool in_order = true;
  /// An item is delivered at most so long after it was sent, or after the rail failed if it was
  /// under way then.
  verbs::Duration recovery = std::chrono::seconds(1);
};

/// The judge of one run. Programs call it from any fiber of one world.
class Delivery {
 public:
  explicit Delivery(const DeliveryPromise& promise) : promise_(promise) {}

  /// The sending program is responsible for the item from now on.
  void sent(std::uint64_t item, verbs::Instant now);
  /// The receiving program has taken the item: it is of effect.
  void delivered(std::uint64_t item, verbs::Instant now);
  /// A rail fails.
  void failed(verbs::Instant now) { failed_ = now; }

  /// The time of the last delivery; the beginning: none.
  [[nodiscard]] verbs::Instant last() const;
  /// A line for each broken promise, at the end of the run.
  [[nodiscard]] std::vector<std::string> problems() const;

 private:
  struct Item {
    std::optional<verbs::Instant> sent{};
    std::vector<verbs::Instant> delivered{};
  };
  [[nodiscard]] std::string late(std::uint64_t number, const Item& item) const;

  const DeliveryPromise promise_;
  std::map<std::uint64_t, Item> items_;
  std::vector<std::uint64_t> order_;  ///< of the first deliveries
  std::optional<verbs::Instant> failed_;
};

}  // namespace anyrdma::sim::testing
