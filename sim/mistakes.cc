#include "sim/mistakes.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace anyrdma::sim {
namespace {

/// Longer than any timeout of the CM: who has not acknowledged an event by then never does.
constexpr Duration kWaitsMost = std::chrono::minutes(5);

constexpr std::array<std::string_view, 12> kCheckers{"source", "target",     "overlap",  "region",
                                                     "dry",    "unsignaled", "depth",    "overrun",
                                                     "gone",   "owed",       "handover", "retried"};

}  // namespace

bool is_ownership_checker(std::string_view name) {
  return std::ranges::find(kCheckers, name) != kCheckers.end();
}

std::string ownership_checkers() {
  std::string text;
  for (const std::string_view each : kCheckers) (text += text.empty() ? "" : ", ") += each;
  return text;
}

Mistake owed_mistake(const verbs::Runtime::Owed& owed, std::string program) {
  std::string events = owed.events.substr(0, owed.events.find('\n'));
  events.erase(0, std::min(events.find_first_not_of(' '), events.size()));
  std::string text = owed.own ? "waits for itself: it destroys an object whose event it has taken "
                                "and not acknowledged ("
                              : "destroys an object whose event another thread has taken and not "
                                "acknowledged (";
  text += events;
  text += owed.own ? "). Acknowledge each event before the object is destroyed"
                   : "). That thread must not use the object after it acknowledges the event";
  return {.checker = owed.own ? "owed" : "handover",
          .program = std::move(program),
          .remark = !owed.own,
          .text = std::move(text)};
}

bool Mistakes::is_allowed(std::string_view checker) const {
  return std::ranges::any_of(allowed_,
                             [&](const Allowance& each) { return each.checker == checker; });
}

void Mistakes::add(Mistake mistake) {
  if (is_allowed(mistake.checker)) return;
  if (std::ranges::find(denied_, mistake.checker) != denied_.end()) mistake.remark = false;
  if (++counts_[{mistake.program, mistake.checker}] > kTold) return;
  std::string line = mistake.checker + ": " + mistake.program + ": " + mistake.text;
  if (!mistake.remark && listener_) listener_(line, mistake.stacks);
  found_.push_back({std::move(mistake), std::move(line)});
}

void Mistakes::on_wait(const std::string& thread, Instant now, Mistake mistake) {
  waits_.insert_or_assign(thread, Wait{now, std::move(mistake)});
}

void Mistakes::on_end(std::string_view threads) {
  std::erase_if(waits_, [&](const auto& each) { return each.first.starts_with(threads); });
}

void Mistakes::on_rest() {
  for (auto& [thread, wait] : waits_) add(std::move(wait.mistake));
  waits_.clear();
}

bool Mistakes::is_stuck(Instant now) {
  if (waits_.empty()) return false;
  const auto lasts = [&](const auto& each) { return now - each.second.since >= kWaitsMost; };
  if (std::ranges::none_of(waits_, lasts)) return false;
  on_rest();
  return true;
}

std::string Mistakes::text_of(bool remarks) const {
  std::string text;
  std::map<std::pair<std::string, std::string>, std::size_t> told;
  for (const Found& each : found_) {
    if (each.mistake.remark != remarks || (remarks && each.mistake.checker == "depth")) continue;
    text += each.line + "\n" + each.mistake.stacks;
    const std::pair key(each.mistake.program, each.mistake.checker);
    const std::size_t count = counts_.at(key);
    if (++told[key] == kTold && count > kTold)
      text += "  (and " + std::to_string(count - kTold) + " more of its kind)\n";
  }
  return text;
}

}  // namespace anyrdma::sim
