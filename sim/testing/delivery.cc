#include "sim/testing/delivery.h"

#include <algorithm>

#include "base/text.h"

namespace anyrdma::sim::testing {
namespace {

std::string at(verbs::Instant time) {
  return " at " + seconds_text(time.time_since_epoch()) + " s";
}

std::string name_of(std::uint64_t item) {
  return "item " + std::to_string(item);
}

}  // namespace

void Delivery::sent(std::uint64_t item, verbs::Instant now) {
  std::optional<verbs::Instant>& sent = items_[item].sent;
  if (!sent) sent = now;
}

void Delivery::delivered(std::uint64_t item, verbs::Instant now) {
  Item& known = items_[item];
  if (known.delivered.empty()) order_.push_back(item);
  known.delivered.push_back(now);
}

verbs::Instant Delivery::last() const {
  verbs::Instant last{};
  for (const auto& [number, item] : items_)
    for (const verbs::Instant each : item.delivered) last = std::max(last, each);
  return last;
}

std::string Delivery::late(std::uint64_t number, const Item& item) const {
  const verbs::Instant done = item.delivered.front();
  const bool under_way = failed_ && *item.sent < *failed_ && done > *failed_;
  const verbs::Duration took = done - (under_way ? *failed_ : *item.sent);
  if (took <= promise_.recovery) return {};
  return name_of(number) + " was delivered" + at(done) + ", " + seconds_text(took) + " s after " +
         (under_way ? "the rail failed" : "it was sent") + "; promised are " +
         seconds_text(promise_.recovery) + " s";
}

std::vector<std::string> Delivery::problems() const {
  std::vector<std::string> lines;
  std::uint64_t given = 0;
  for (const auto& [number, item] : items_) {
    given += item.sent ? 1 : 0;
    if (!item.sent) {
      lines.push_back(name_of(number) + " was delivered" + at(item.delivered.front()) +
                      " and never sent");
    } else if (item.delivered.empty()) {
      lines.push_back(name_of(number) + " was sent" + at(*item.sent) + " and is lost");
    } else if (const std::string line = late(number, item); !line.empty()) {
      lines.push_back(line);
    }
    if (item.delivered.size() > 1)
      lines.push_back(name_of(number) + " was delivered" + at(item.delivered[0]) + " and again" +
                      at(item.delivered[1]));
  }
  if (given < promise_.items)
    lines.push_back("of " + std::to_string(promise_.items) + " items only " +
                    std::to_string(given) + " were sent");
  const auto wrong = std::ranges::is_sorted_until(order_);
  if (promise_.in_order && wrong != order_.end())
    lines.push_back(name_of(*wrong) + " was delivered after " + name_of(*(wrong - 1)));
  return lines;
}

}  // namespace anyrdma::sim::testing
