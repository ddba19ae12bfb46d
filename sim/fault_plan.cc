#include "sim/fault_plan.h"

#include <array>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <utility>

#include "sim/text.h"

namespace anyrdma::sim {
namespace {

constexpr std::size_t kRejectDataMax = 148;

struct MessageName {
  CmMessage message;
  std::string_view name;
};
constexpr std::array kMessageNames{
    MessageName{CmMessage::kReq, "REQ"},          MessageName{CmMessage::kMra, "MRA"},
    MessageName{CmMessage::kRej, "REJ"},          MessageName{CmMessage::kRep, "REP"},
    MessageName{CmMessage::kRtu, "RTU"},          MessageName{CmMessage::kDreq, "DREQ"},
    MessageName{CmMessage::kDrep, "DREP"},        MessageName{CmMessage::kSidrReq, "SIDR_REQ"},
    MessageName{CmMessage::kSidrRep, "SIDR_REP"},
};

struct Unit {
  std::string_view name;
  std::uint64_t nanoseconds;
};
constexpr std::array kUnits{Unit{"ns", 1}, Unit{"us", 1'000}, Unit{"ms", 1'000'000},
                            Unit{"s", 1'000'000'000}};

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

// --- to text ------------------------------------------------------------------------------------

std::string name_text(const std::string& host) {
  return host.empty() ? "*" : host;
}

std::string occurrence_text(std::uint32_t occurrence) {
  return occurrence == kAll ? "all" : std::to_string(occurrence);
}

/// The largest unit without a fraction.
std::string time_text(verbs::Duration time) {
  const auto count = static_cast<std::uint64_t>(time.count());
  const Unit* best = &kUnits.front();
  for (const Unit& unit : kUnits) {
    if (count % unit.nanoseconds == 0) best = &unit;
  }
  return std::to_string(count / best->nanoseconds) + std::string(best->name);
}

std::string trigger_text(const Trigger& trigger) {
  return std::visit(
      Overloaded{[](const AtTime& at) { return "at " + time_text(at.time); },
                 [](const OnMessage& on) {
                   return "on " + name_text(on.from) + "->" + name_text(on.to) + " " +
                          std::string(to_string(on.message)) + " " + occurrence_text(on.occurrence);
                 },
                 [](const OnRequest& on) {
                   return "on " + name_text(on.host) + " request " + occurrence_text(on.occurrence);
                 }},
      trigger);
}

std::string action_text(const FaultAction& action) {
  return std::visit(Overloaded{[](const RejectRequest& reject) {
                                 std::string text = "reject " + std::to_string(reject.reason);
                                 if (!reject.data.empty()) text += " " + hex_text(reject.data);
                                 return text;
                               },
                               [](const LoseMessage&) { return std::string("lose"); },
                               [](const RemoveDevice& remove) {
                                 return "remove " + remove.host + " " + remove.device;
                               },
                               [](const ChangeAddress& change) {
                                 return "fail-over " + change.host + " " + change.interface;
                               }},
                    action);
}

// --- from text ----------------------------------------------------------------------------------

/// The words of one line and what is wrong with it.
struct Line {
  std::vector<std::string_view> words;
  std::string problem;

  [[nodiscard]] bool fail(std::string reason) {
    if (problem.empty()) problem = std::move(reason);
    return false;
  }
};

std::string quoted(std::string_view word) {
  return "'" + std::string(word) + "'";
}

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

template <class T>
bool parse_number(std::string_view word, T& number) {
  const auto parsed = std::from_chars(word.data(), word.data() + word.size(), number);
  return parsed.ec == std::errc{} && parsed.ptr == word.data() + word.size();
}

bool parse_occurrence(Line& line, std::string_view word, std::uint32_t& occurrence) {
  if (word == "all") {
    occurrence = kAll;
    return true;
  }
  if (parse_number(word, occurrence) && occurrence != 0) return true;
  return line.fail(quoted(word) + " is no occurrence: a number from 1, or all");
}

std::string host_of(std::string_view word) {
  return word == "*" ? std::string() : std::string(word);
}

/// Digits, perhaps a point with up to nine digits, and a unit; exact to the nanosecond.
bool parse_time(Line& line, std::string_view word, verbs::Duration& time) {
  const std::size_t unit_at = std::min(word.find_first_not_of("0123456789."), word.size());
  const std::string_view digits = word.substr(0, unit_at);
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::string_view fraction =
      point < digits.size() ? digits.substr(point + 1) : std::string_view();
  for (const Unit& unit : kUnits) {
    if (unit.name != word.substr(unit_at)) continue;
    std::uint64_t whole = 0;
    if (!parse_number(digits.substr(0, point), whole)) break;
    if (whole > static_cast<std::uint64_t>(verbs::Duration::max().count()) / unit.nanoseconds)
      break;
    std::uint64_t nanoseconds = whole * unit.nanoseconds;
    std::uint64_t weight = unit.nanoseconds;
    for (const char digit : fraction) {
      if (digit == '.' || weight % 10 != 0) return line.fail(quoted(word) + " is no time");
      weight /= 10;
      nanoseconds += weight * static_cast<std::uint64_t>(digit - '0');
    }
    time = verbs::Duration(static_cast<std::int64_t>(nanoseconds));
    return true;
  }
  return line.fail(quoted(word) + " is no time: a number with ns, us, ms or s");
}

bool parse_message(Line& line, std::string_view word, CmMessage& message) {
  for (const MessageName& row : kMessageNames) {
    if (row.name != word) continue;
    message = row.message;
    return true;
  }
  return line.fail("no such message " + quoted(word));
}

bool parse_on_message(Line& line, std::size_t arrow, Trigger& trigger) {
  const std::string_view path = line.words[1];
  OnMessage on{.from = host_of(path.substr(0, arrow)), .to = host_of(path.substr(arrow + 2))};
  if (path.substr(0, arrow).empty() || path.substr(arrow + 2).empty()) {
    return line.fail("a host is missing in " + quoted(path) + "; * means any");
  }
  if (!parse_message(line, line.words[2], on.message)) return false;
  if (!parse_occurrence(line, line.words[3], on.occurrence)) return false;
  trigger = std::move(on);
  return true;
}

bool parse_trigger(Line& line, Trigger& trigger) {
  if (line.words.size() == 2 && line.words[0] == "at") {
    AtTime at;
    if (!parse_time(line, line.words[1], at.time)) return false;
    trigger = at;
    return true;
  }
  if (line.words.size() != 4 || line.words[0] != "on") {
    return line.fail("no trigger: 'at TIME', 'on HOST->HOST MESSAGE N' or 'on HOST request N'");
  }
  const std::size_t arrow = line.words[1].find("->");
  if (arrow != std::string_view::npos) return parse_on_message(line, arrow, trigger);
  if (line.words[2] != "request") return line.fail("expected 'request' or HOST->HOST");
  OnRequest on{.host = host_of(line.words[1])};
  if (!parse_occurrence(line, line.words[3], on.occurrence)) return false;
  trigger = std::move(on);
  return true;
}

std::optional<std::uint8_t> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint8_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<std::uint8_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<std::uint8_t>(c - 'A' + 10);
  return std::nullopt;
}

bool parse_hex(Line& line, std::string_view word, std::vector<std::uint8_t>& bytes) {
  if (word.size() % 2 != 0) return line.fail(quoted(word) + " has half a byte");
  for (std::size_t i = 0; i < word.size(); i += 2) {
    const auto high = hex_digit(word[i]);
    const auto low = hex_digit(word[i + 1]);
    if (!high || !low) return line.fail(quoted(word) + " is not hexadecimal");
    bytes.push_back(static_cast<std::uint8_t>(*high << 4 | *low));
  }
  return true;
}

bool parse_reject(Line& line, FaultAction& action) {
  RejectRequest reject;
  if (line.words.size() != 2 && line.words.size() != 3) {
    return line.fail("expected 'reject REASON [HEX]'");
  }
  if (!parse_number(line.words[1], reject.reason)) {
    return line.fail(quoted(line.words[1]) + " is no reject reason: 0 to 255");
  }
  if (line.words.size() == 3 && !parse_hex(line, line.words[2], reject.data)) return false;
  action = std::move(reject);
  return true;
}

bool parse_action(Line& line, FaultAction& action) {
  if (line.words.empty()) return line.fail("no action after the colon");
  const std::string_view verb = line.words[0];
  if (verb == "reject") return parse_reject(line, action);
  if (verb == "lose") {
    if (line.words.size() != 1) return line.fail("'lose' stands alone");
    action = LoseMessage{};
    return true;
  }
  if (verb != "remove" && verb != "fail-over") return line.fail("no such action " + quoted(verb));
  if (line.words.size() != 3) {
    return line.fail(quoted(verb) + " needs a host and what of it");
  }
  std::string host(line.words[1]);
  std::string part(line.words[2]);
  if (verb == "remove") {
    action = RemoveDevice{std::move(host), std::move(part)};
  } else {
    action = ChangeAddress{std::move(host), std::move(part)};
  }
  return true;
}

bool parse_fault(std::string_view text, Fault& fault, std::string& problem) {
  const std::size_t colon = text.find(": ");
  Line line;
  bool good = colon != std::string_view::npos || line.fail("expected 'TRIGGER: ACTION'");
  if (good) {
    line.words = words_of(text.substr(0, colon));
    good = parse_trigger(line, fault.trigger);
  }
  if (good) {
    line.words = words_of(text.substr(colon + 2));
    good = parse_action(line, fault.action);
  }
  problem = good ? problem_with(fault) : std::move(line.problem);
  return problem.empty();
}

}  // namespace

std::string_view to_string(CmMessage message) {
  for (const MessageName& row : kMessageNames) {
    if (row.message == message) return row.name;
  }
  return "?";
}

std::string to_string(const Fault& fault) {
  return trigger_text(fault.trigger) + ": " + action_text(fault.action);
}

std::string problem_with(const Fault& fault) {
  const bool request = std::holds_alternative<OnRequest>(fault.trigger);
  if (const auto* reject = std::get_if<RejectRequest>(&fault.action)) {
    if (!request) return "only a request can be rejected";
    if (reject->data.size() > kRejectDataMax) return "more than 148 bytes of private data";
  }
  if (std::holds_alternative<LoseMessage>(fault.action) &&
      !std::holds_alternative<OnMessage>(fault.trigger)) {
    return "only a message can be lost";
  }
  return "";
}

std::string PlanError::to_string() const {
  return "line " + std::to_string(line) + ": " + reason;
}

void throw_exception_from_error(const PlanError& error, const boost::source_location&) {
  throw std::invalid_argument("fault plan, " + error.to_string());
}

std::string FaultPlan::to_string() const {
  std::string text;
  for (const Fault& fault : faults) text += sim::to_string(fault) + "\n";
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
    std::string problem;
    if (!parse_fault(line, fault, problem)) return PlanError{number, std::move(problem)};
    plan.faults.push_back(std::move(fault));
  }
  return plan;
}

}  // namespace anyrdma::sim
