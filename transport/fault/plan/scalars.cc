#include "transport/fault/plan/scalars.h"

#include <algorithm>
#include <array>
#include <optional>

#include "transport/event_name.h"

namespace anyrdma::fault {
namespace {

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

/// A decimal number in units of 1/`one`, which is a power of ten: "1.5" of 1000 is 1500. Empty:
/// none, or not exact, or more than `most`.
std::optional<std::uint64_t> parse_decimal(std::string_view word, std::uint64_t one,
                                           std::uint64_t most) {
  const std::size_t point = std::min(word.find('.'), word.size());
  std::uint64_t whole = 0;
  if (!parse_number(word.substr(0, point), whole) || whole > most / one) return std::nullopt;
  std::uint64_t value = whole * one;
  std::uint64_t weight = one;
  const std::string_view fraction = point < word.size() ? word.substr(point + 1) : "";
  for (const char digit : fraction) {
    if (digit < '0' || digit > '9' || weight % 10 != 0) return std::nullopt;
    weight /= 10;
    value += weight * static_cast<std::uint64_t>(digit - '0');
  }
  return value > most ? std::nullopt : std::optional(value);
}

std::optional<std::uint8_t> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint8_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<std::uint8_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<std::uint8_t>(c - 'A' + 10);
  return std::nullopt;
}

}  // namespace

std::string in_quotes(std::string_view word) {
  return "'" + std::string(word) + "'";
}

// --- times --------------------------------------------------------------------------------------

std::string word_of(verbs::Duration time) {
  constexpr std::size_t kDigitsToRead = 4;
  const auto count = static_cast<std::uint64_t>(time.count());
  const Unit* best = &kUnits.front();
  for (const Unit& unit : kUnits) {
    if (count % unit.nanoseconds == 0) best = &unit;
  }
  std::string text = std::to_string(count / best->nanoseconds);
  if (text.size() <= kDigitsToRead) return text + std::string(best->name);
  const Unit* shortest = best;
  for (const Unit& unit : kUnits) {
    if (count >= unit.nanoseconds) shortest = &unit;
  }
  std::string fraction = std::to_string(shortest->nanoseconds + count % shortest->nanoseconds);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  text = std::to_string(count / shortest->nanoseconds);
  if (fraction.size() > 1) text += "." + fraction.substr(1);
  return text + std::string(shortest->name);
}

std::string parse_word(std::string_view, std::string_view word, verbs::Duration& time) {
  constexpr std::uint64_t kMost = 1'000'000'000'000'000'000;  // 31 years: sums cannot overflow
  const std::size_t unit_at = std::min(word.find_first_not_of("0123456789."), word.size());
  for (const Unit& unit : kUnits) {
    if (unit.name != word.substr(unit_at)) continue;
    const auto count = parse_decimal(word.substr(0, unit_at), unit.nanoseconds, kMost);
    if (!count) break;
    time = verbs::Duration(static_cast<std::int64_t>(*count));
    return "";
  }
  return in_quotes(word) + " is no time; write a number with ns, us, ms or s, whole nanoseconds";
}

std::string word_of(const Lasting& lasting) {
  if (lasting.for_ever()) return "";
  const std::string least = word_of(lasting.least);
  return lasting.least == lasting.most ? least : least + " to " + word_of(lasting.most);
}

std::string parse_word(std::string_view key, std::string_view word, Lasting& lasting) {
  constexpr std::string_view kTo = " to ";
  const std::size_t to = std::min(word.find(kTo), word.size());
  verbs::Duration least{};
  std::string problem = parse_word(key, word.substr(0, to), least);
  if (!problem.empty()) return problem;
  if (least == verbs::Duration::zero()) return "a duration must be longer than 0s";
  lasting = least;
  if (to == word.size()) return "";
  return parse_word(key, word.substr(to + kTo.size()), lasting.most);
}

// --- occurrences --------------------------------------------------------------------------------

std::string word_of(const Occurrence& occurrence) {
  if (occurrence.number != kAll) return std::to_string(occurrence.number);
  if (occurrence.per_million == Occurrence::kCertain) return "all";
  std::string text = std::to_string(occurrence.per_million / 10'000);
  std::string fraction = std::to_string(10'000 + occurrence.per_million % 10'000);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  if (fraction.size() > 1) text += "." + fraction.substr(1);
  return text + "%";
}

std::string parse_word(std::string_view, std::string_view word, Occurrence& occurrence) {
  std::uint32_t number = 0;
  if (word == "all") {
    occurrence = kAll;
    return "";
  }
  if (word.ends_with('%')) {
    const auto millionths =
        parse_decimal(word.substr(0, word.size() - 1), 10'000, Occurrence::kCertain - 1);
    if (!millionths || *millionths == 0) {
      return in_quotes(word) +
             " is no probability; write one above 0% and below 100%, four decimals";
    }
    occurrence = Occurrence::each_with(static_cast<std::uint32_t>(*millionths));
    return "";
  }
  if (!parse_number(word, number) || number == 0) {
    return in_quotes(word) + " is no occurrence; write a number from 1, all, or a percentage";
  }
  occurrence = number;
  return "";
}

// --- names --------------------------------------------------------------------------------------

std::string_view to_string(Victim victim) {
  switch (victim) {
    case Victim::kWorld:
      return "the world";
    case Victim::kPacket:
      return "a message or packet";
    case Victim::kRequest:
      return "a request";
    case Victim::kCall:
      return "a call";
    case Victim::kWork:
      return "a completion";
    case Victim::kQuery:
      return "the resolution of an address";
    case Victim::kRoute:
      return "the resolution of a route";
    case Victim::kEvent:
      return "an event that is queued";
  }
  return "?";
}

std::string_view to_string(CmMessage message) {
  for (const MessageName& row : kMessageNames) {
    if (row.message == message) return row.name;
  }
  return "?";
}

std::string word_of(CmMessage message) {
  return std::string(to_string(message));
}

std::string parse_word(std::string_view, std::string_view word, CmMessage& message) {
  for (const MessageName& row : kMessageNames) {
    if (row.name != word) continue;
    message = row.message;
    return "";
  }
  return "no such message " + in_quotes(word);
}

std::string word_of(rdma_cm_event_type event) {
  return std::string(transport::short_event_name(event));
}

std::string parse_word(std::string_view, std::string_view word, rdma_cm_event_type& event) {
  for (int type = 0; type <= RDMA_CM_EVENT_TIMEWAIT_EXIT; ++type) {
    if (transport::short_event_name(static_cast<rdma_cm_event_type>(type)) != word) continue;
    event = static_cast<rdma_cm_event_type>(type);
    return "";
  }
  return "no such event " + in_quotes(word);
}

std::string word_of(const FieldName& field) {
  return field.name;
}

std::string parse_word(std::string_view, std::string_view word, FieldName& field) {
  field.name = word;
  const bool good = !word.empty() && word != kFor && std::ranges::all_of(word, [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  });
  return good ? "" : in_quotes(word) + " is no field";
}

bool is_name(std::string_view name) {
  constexpr std::string_view kSigns = "*#<>\"\\";
  if (name == kFor) return false;
  return !name.empty() && name.back() != ':' && std::ranges::all_of(name, [&](char c) {
    return c > ' ' && c <= '~' && kSigns.find(c) == std::string_view::npos;
  });
}

// --- bytes --------------------------------------------------------------------------------------

std::string word_of(const std::vector<std::uint8_t>& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 0xf];
  }
  return text;
}

std::string parse_word(std::string_view, std::string_view word, std::vector<std::uint8_t>& bytes) {
  if (word.empty() || word.size() % 2 != 0)
    return in_quotes(word) + " has an odd number of hexadecimal digits";
  for (std::size_t i = 0; i < word.size(); i += 2) {
    const auto high = hex_digit(word[i]);
    const auto low = hex_digit(word[i + 1]);
    if (!high || !low) return in_quotes(word) + " is not hexadecimal";
    bytes.push_back(static_cast<std::uint8_t>(*high << 4 | *low));
  }
  return "";
}

}  // namespace anyrdma::fault
