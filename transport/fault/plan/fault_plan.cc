#include "transport/fault/plan/fault_plan.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <stdexcept>

#include "transport/fault/plan/ending.h"
#include "transport/fault/plan/legal.h"
#include "transport/fault/plan/scalars.h"
#include "transport/fault/plan/words.h"

namespace anyrdma::fault {
namespace {

constexpr std::size_t kRejectDataMax = 148;
constexpr std::uint8_t kExponentMax = 31;
constexpr std::int32_t kDriftMax = 100'000;  // what adjtimex(2) lets one do to a clock
constexpr std::string_view kMaybe = "maybe";
constexpr std::string_view kEvery = "every";

// --- to text ------------------------------------------------------------------------------------

std::string joined(std::span<const Word> words) {
  std::string text;
  for (const Word& word : words) text += " " + word.text;
  return text;
}

std::string trigger_text(const Trigger& trigger) {
  const Phrase phrase = phrase_of(trigger);
  if (phrase.kind == AtTime::kKind) return "at" + joined(phrase.words);
  if (phrase.kind == BetweenTimes::kKind) {
    return "between " + phrase.words[0].text + " and " + phrase.words[1].text;
  }
  if (phrase.kind == OnMessage::kKind) return "on" + joined(phrase.words);
  const std::span<const Word> words = phrase.words;
  return "on " + words.front().text + " " + phrase.kind + joined(words.subspan(1));
}

// --- from text ----------------------------------------------------------------------------------

std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = text.find_first_not_of(kBlank);
    if (begin == std::string_view::npos) return words;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(kBlank), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

Phrase phrase_from(std::string_view kind, std::span<const std::string_view> words) {
  Phrase phrase{std::string(kind), {}, 0};
  for (const std::string_view word : words) phrase.words.push_back({"", std::string(word), 0});
  return phrase;
}

std::string parse_window(std::span<const std::string_view> words, Trigger& trigger) {
  if (words.size() != 4 || words[2] != "and") return "a window is 'between TIME and TIME'";
  const std::array times{words[1], words[3]};
  return read_phrase(phrase_from(BetweenTimes::kKind, times), Order::kByPlace, trigger).reason;
}

std::string parse_trigger(std::span<const std::string_view> words, Trigger& trigger) {
  if (!words.empty() && words[0] == "at") {
    return read_phrase(phrase_from(AtTime::kKind, words.subspan(1)), Order::kByPlace, trigger)
        .reason;
  }
  if (!words.empty() && words[0] == BetweenTimes::kKind) return parse_window(words, trigger);
  if (words.size() < 3 || words[0] != "on") {
    return "no trigger: 'at TIME', 'between TIME and TIME', 'on HOST->HOST MESSAGE N', 'on HOST "
           "request N' ...";
  }
  if (!is_trigger_kind(words[2])) {
    if (words[1].find("->") == std::string_view::npos) {
      return "expected request, queued, fetched, call, completion or HOST->HOST";
    }
    return read_phrase(phrase_from(OnMessage::kKind, words.subspan(1)), Order::kByPlace, trigger)
        .reason;
  }
  Phrase phrase = phrase_from(words[2], words.subspan(2));
  phrase.words.front().text = words[1];  // where it happens, before the kind
  return read_phrase(phrase, Order::kByPlace, trigger).reason;
}

/// The words of the action alone; those behind it say how long it lasts.
std::string take_lasting(std::span<const std::string_view>& words, Lasting& lasts) {
  const auto mark = std::ranges::find(words, kFor);
  if (mark == words.end()) return "";
  const std::span time(std::next(mark), words.end());
  words = std::span(words.begin(), mark);
  if (time.size() == 1) return parse_word(kFor, time[0], lasts);
  if (time.size() == 3 && time[1] == "to") {
    return parse_word(kFor, std::string(time[0]) + " to " + std::string(time[2]), lasts);
  }
  return "how long it lasts is 'for TIME' or 'for TIME to TIME'";
}

std::string parse_flap(std::span<const std::string_view> words, FaultAction& action) {
  if (words.size() != 5 || words[3] != kEvery)
    return "'flap' is 'flap HOST DEVICE TIME every TIME'";
  const std::array fields{words[0], words[1], words[2], words[4]};
  return read_phrase(phrase_from(FlapPort::kKind, fields), Order::kByPlace, action).reason;
}

std::string parse_action(std::span<const std::string_view> words, FaultAction& action) {
  if (words.empty()) return "no action after the colon";
  if (words[0] == FlapPort::kKind) return parse_flap(words.subspan(1), action);
  return read_phrase(phrase_from(words[0], words.subspan(1)), Order::kByPlace, action).reason;
}

std::string parse_fault(std::string_view text, Fault& fault) {
  const std::size_t colon = text.find(": ");
  if (colon == std::string_view::npos) return "expected 'TRIGGER: ACTION'";
  const auto when = words_of(text.substr(0, colon));
  fault.maybe = !when.empty() && when.front() == kMaybe;
  const auto trigger = std::span(when).subspan(fault.maybe ? 1 : 0);
  if (std::string problem = parse_trigger(trigger, fault.trigger); !problem.empty()) return problem;
  const auto words = words_of(text.substr(colon + 2));
  std::span<const std::string_view> what(words);
  if (std::string problem = take_lasting(what, fault.lasts); !problem.empty()) return problem;
  if (std::string problem = parse_action(what, fault.action); !problem.empty()) return problem;
  return problem_with(fault);
}

}  // namespace

std::string to_string(const FaultAction& action) {
  Phrase phrase = phrase_of(action);
  if (phrase.kind == FlapPort::kKind) phrase.words.back().text.insert(0, std::string(kEvery) + " ");
  return phrase.kind + joined(phrase.words);
}

std::string to_string(const Fault& fault) {
  const std::string maybe = fault.maybe ? std::string(kMaybe) + " " : "";
  const std::string lasts =
      fault.lasts.for_ever() ? "" : " " + std::string(kFor) + " " + word_of(fault.lasts);
  return maybe + trigger_text(fault.trigger) + ": " + to_string(fault.action) + lasts;
}

std::string problem_with(const Fault& fault) {
  const Victim needed =
      std::visit([]<class What>(const What&) { return kVictim<What>; }, fault.action);
  const Victim there =
      std::visit([]<class When>(const When&) { return kVictim<When>; }, fault.trigger);
  if (needed != Victim::kWorld && needed != there) {
    return in_quotes(phrase_of(fault.action).kind) + " happens to " +
           std::string(to_string(needed)) + " only";
  }
  if (const auto* between = std::get_if<BetweenTimes>(&fault.trigger)) {
    if (between->to <= between->from) {
      return "a window ends after it begins, not 'between " + word_of(between->from) + " and " +
             word_of(between->to) + "'";
    }
  }
  if (std::string problem = lasting_problem(fault); !problem.empty()) return problem;
  const auto* flap = std::get_if<FlapPort>(&fault.action);
  if (flap != nullptr && (flap->down <= verbs::Duration::zero() || flap->every <= flap->down))
    return "a port flaps for more than 0s each time, and less often than that";
  const auto* drift = std::get_if<DriftClock>(&fault.action);
  if (drift != nullptr && (drift->ppm < -kDriftMax || drift->ppm > kDriftMax)) {
    return "a clock drifts by at most 100000 ppm";
  }
  if (std::holds_alternative<AlterMessage>(fault.action) &&
      !std::holds_alternative<OnMessage>(fault.trigger)) {
    return "'alter' happens to a CM message only";
  }
  const auto* postpone = std::get_if<PostponeRequest>(&fault.action);
  if (postpone != nullptr && postpone->timeout > kExponentMax) {
    return "an MRA's time has five bits: at most 31";
  }
  const auto* reject = std::get_if<RejectRequest>(&fault.action);
  if (reject != nullptr && reject->data.size() > kRejectDataMax) {
    return "more than 148 bytes of private data";
  }
  return api_problem(fault);
}

std::string PlanError::to_string() const {
  return "line " + std::to_string(line) + ": " + reason;
}

void throw_exception_from_error(const PlanError& error, const boost::source_location&) {
  throw std::invalid_argument("fault plan, " + error.to_string());
}

std::string FaultPlan::to_string() const {
  std::string text;
  for (const Fault& fault : faults) text += fault::to_string(fault) + "\n";
  return text;
}

PlanResult<FaultPlan> FaultPlan::parse(std::string_view text) {
  FaultPlan plan;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto words = words_of(line);
    if (words.empty() || words.front().front() == '#') continue;
    Fault fault;
    std::string problem = parse_fault(line, fault);
    if (!problem.empty()) return PlanError{number, std::move(problem)};
    plan.faults.push_back(std::move(fault));
  }
  return plan;
}

}  // namespace anyrdma::fault
