#include "sim/explore/results.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <limits>
#include <optional>
#include <set>

#include "base/text.h"
#include "transport/fault/plan/scalars.h"

namespace anyrdma::sim {
namespace {

constexpr std::string_view kTitle = "anyrdma results 1";
/// No count is near, and sums of many do not overflow.
constexpr std::uint64_t kMost = 1'000'000'000'000'000;
constexpr std::uint64_t kShardsMost = 1'000'000'000;

// --- writing ------------------------------------------------------------------------------------

std::string escaped(std::string_view text) {
  std::string all;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\') {
      all += "\\\\";
    } else if (byte < 0x20 || byte == 0x7f) {
      append(all, "\\x%02x", byte);
    } else {
      all += c;
    }
  }
  return all;
}

/// A last line that does not end is marked.
std::string block(std::string_view text) {
  std::string all;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const bool whole = end != std::string_view::npos;
    all += (whole ? "| " : "|~ ") + escaped(text.substr(0, end)) + "\n";
    text.remove_prefix(whole ? end + 1 : text.size());
  }
  return all;
}

std::string number_and(std::uint64_t number, std::string_view text) {
  return std::to_string(number) + " " + escaped(text) + "\n";
}

std::string text_of(const std::string& name, const FailureKind& kind) {
  const Failure& first = kind.first;
  std::string text = "kind " + number_and(kind.runs, name) + "place";
  for (const std::uint64_t number : kind.place) text += " " + std::to_string(number);
  append(text, "\nhash 0x%016llx\n", static_cast<unsigned long long>(first.outcome.trace_hash));
  text += "faults " + std::to_string(first.faults_found) + "\n";
  text += "command " + escaped(first.command) + "\n";
  text += "trial\n" + block(first.trial.to_string("\n") + "\n");
  return text + "problem\n" + block(first.outcome.problem);
}

// --- reading ------------------------------------------------------------------------------------

std::optional<std::string> unescaped(std::string_view text) {
  std::string all;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) return std::nullopt;
    if (text[i] != '\\') {
      all += text[i];
    } else if (text.substr(i + 1).starts_with('\\')) {
      all += text[++i];
    } else {
      const auto hex = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
      if (text.size() - i < 4 || text[i + 1] != 'x' || !hex(text[i + 2]) || !hex(text[i + 3]))
        return std::nullopt;
      all += static_cast<char>(std::stoi(std::string(text.substr(i + 2, 2)), nullptr, 16));
      i += 3;
    }
  }
  return all;
}

class ResultsReader {
 public:
  explicit ResultsReader(std::string_view text) : text_(text) {}

  [[nodiscard]] verbs::OrWhyNot<Results> run() {
    Results results;
    if (head(results) && body(results.found) && foot(results)) return results;
    return verbs::WhyNot{"line " + std::to_string(line_) + ": " + problem_};
  }

 private:
  bool fail(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
    return false;
  }

  /// The next line without its newline; empty: none is left, or it is not whole.
  [[nodiscard]] std::string_view peek() const {
    const std::size_t end = text_.find('\n');
    return end == std::string_view::npos ? std::string_view() : text_.substr(0, end);
  }
  [[nodiscard]] bool next_is(std::string_view word) const {
    const std::string_view line = peek();
    return line.starts_with(word) && (line.size() == word.size() || line[word.size()] == ' ');
  }
  std::string_view take() {
    ++line_;
    const std::string_view line = peek();
    text_.remove_prefix(std::min(line.size() + 1, text_.size()));
    return line;
  }

  /// Takes a line that begins with the word; the rest of it is given.
  bool take(std::string_view word, std::string_view& rest) {
    const bool there = next_is(word);
    const std::string_view line = take();
    if (!there) return fail("expected '" + std::string(word) + "'");
    rest = line.substr(std::min(word.size() + 1, line.size()));
    return true;
  }
  bool take_text(std::string_view word, std::string& text) {
    std::string_view rest;
    if (!take(word, rest)) return false;
    const auto plain = unescaped(rest);
    if (!plain) return fail("a backslash is written \\\\, and a control character as in \\x09");
    text = *plain;
    return true;
  }
  /// Takes the first word off.
  bool number(std::string_view& rest, std::uint64_t& value, std::uint64_t most = kMost) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (!fault::parse_number(rest.substr(0, end), value) || value > most)
      return fail("'" + std::string(rest.substr(0, end)) + "' is no number up to " +
                  std::to_string(most));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return true;
  }
  bool take_number(std::string_view word, std::uint64_t& value) {
    std::string_view rest;
    return take(word, rest) && number(rest, value) &&
           (rest.empty() || fail("one number is enough"));
  }
  bool take_number_and_text(std::string_view word, std::uint64_t& value, std::string& text) {
    std::string_view rest;
    if (!take(word, rest) || !number(rest, value)) return false;
    const auto plain = unescaped(rest);
    if (!plain) return fail("a backslash is written \\\\, and a control character as in \\x09");
    text = *plain;
    return true;
  }
  bool take_block(std::string_view word, std::string& text) {
    std::string_view rest;
    if (!take(word, rest)) return false;
    if (!rest.empty()) return fail("nothing follows '" + std::string(word) + "' in its line");
    for (bool whole = true; whole && peek().starts_with('|');) {
      whole = peek().starts_with("| ");
      if (!whole && !peek().starts_with("|~ ")) return take(), fail("'| ' begins a line of text");
      const auto plain = unescaped(take().substr(whole ? 2 : 3));
      if (!plain) return fail("a backslash is written \\\\, and a control character as in \\x09");
      text += *plain;
      if (whole) text += '\n';
    }
    return true;
  }

  bool head(Results& results) {
    if (peek() != kTitle) {
      take();
      return fail("expected '" + std::string(kTitle) + "'");
    }
    take();
    std::string_view rest;
    if (!take_text("written by", results.writer) || !take_text("scenario", results.scenario))
      return false;
    while (next_is("option")) {
      std::string option;
      if (!take_text("option", option)) return false;
      const std::size_t blank = option.find(' ');
      if (blank == std::string::npos || blank == 0) return fail("an option has a name and a value");
      results.options.emplace_back(option.substr(0, blank), option.substr(blank + 1));
    }
    if (!take("shard", rest) || !number(rest, results.shard, kShardsMost)) return false;
    if (!rest.starts_with("of ")) return fail("say 'shard 0 of 4'");
    rest.remove_prefix(3);
    if (!number(rest, results.shards, kShardsMost)) return false;
    if (results.shard >= results.shards || !rest.empty())
      return fail("shards are numbered from 0, as in 'shard 0 of 4'");
    return take_number("runs", results.found.runs) &&
           take_number("milliseconds", results.milliseconds);
  }

  bool body(Exploration& found) {
    std::string_view ended;
    if (!take("ended", ended)) return false;
    found.out_of_time = ended == "budget";
    found.interrupted = ended == "interrupted";
    if (ended != "whole" && !found.out_of_time && !found.interrupted)
      return fail("a search ended 'whole', 'budget' or 'interrupted'");
    while (next_is("fired")) {
      std::uint64_t times = 0;
      std::string fault;
      if (!take_number_and_text("fired", times, fault)) return false;
      if (times > found.runs) return fail("the number is larger than that of the runs");
      if (!found.fired.emplace(fault, times).second) return fail("that fault is listed twice");
    }
    while (next_is("situation")) {
      if (!situation(found)) return false;
    }
    if (next_is("differs") && !take_block("differs", found.differs)) return false;
    if (next_is("coverage") && !coverage(found)) return false;
    return others(found);
  }

  bool coverage(Exploration& found) {
    std::string_view rest;
    if (!take("coverage", rest) || !number(rest, found.bits, Coverage::kBits) ||
        !number(rest, found.last_new))
      return false;
    if (found.bits == 0 || found.last_new == 0 || found.last_new > found.runs || !rest.empty())
      return fail("coverage needs a number of bits and the run that reached the last one");
    return true;
  }

  bool others(Exploration& found) {
    std::uint64_t all = 0;
    while (next_is("other")) {
      std::uint64_t times = 0;
      std::string kind;
      if (!take_number_and_text("other", times, kind)) return false;
      all += times;
      if (times == 0 || all > found.runs) return fail("the number is larger than that of the runs");
      if (!found.others.emplace(kind, times).second) return fail("that kind is listed twice");
    }
    return true;
  }

  bool situation(Exploration& found) {
    std::string_view rest;
    Sighting sighting;
    if (!take("situation", rest) || !number(rest, sighting.seen) || !number(rest, sighting.looked))
      return false;
    if (sighting.seen > sighting.looked || sighting.looked > found.runs)
      return fail("the number is larger than that of the runs");
    const auto name = unescaped(rest);
    if (!name || !found.situations.emplace(*name, sighting).second)
      return fail("that situation is invalid or listed twice");
    return true;
  }

  bool foot(Results& results) {
    std::uint64_t wrong = 0;
    while (next_is("kind")) {
      FailureKind kind;
      std::string name;
      if (!failure(kind, name)) return false;
      wrong += kind.runs;
      if (kind.runs == 0 || wrong > results.found.runs)
        return fail("the number is larger than that of the runs");
      const bool first = !results.found.failure || kind.place < first_place_;
      if (first) results.found.failure = kind.first, first_place_ = kind.place;
      if (!results.found.kinds.emplace(name, std::move(kind)).second)
        return fail("that kind is listed twice");
    }
    std::string_view rest;
    if (!take("end", rest)) return false;
    return text_.empty() && rest.empty() ? true : fail("nothing follows 'end'");
  }

  bool failure(FailureKind& kind, std::string& name) {
    if (!take_number_and_text("kind", kind.runs, name)) return false;
    std::string_view rest;
    if (!take("place", rest)) return false;
    do {
      if (!number(rest, kind.place.emplace_back(), std::numeric_limits<std::uint64_t>::max()))
        return false;
    } while (!rest.empty());
    Failure& first = kind.first;
    if (!take("hash", rest)) return false;
    const auto digit = [](char c) { return std::string_view("0123456789abcdef").find(c); };
    if (rest.size() != 18 || !rest.starts_with("0x")) return fail("a hash is 0x and 16 digits");
    for (const char c : rest.substr(2)) {
      if (digit(c) == std::string_view::npos) return fail("a hash is 0x and 16 digits");
      first.outcome.trace_hash = first.outcome.trace_hash * 16 + digit(c);
    }
    std::uint64_t faults = 0;
    std::string trial;
    if (!take_number("faults", faults) || !take_text("command", first.command) ||
        !take_block("trial", trial))
      return false;
    first.faults_found = faults;
    const auto parsed = Trial::parse(trial);
    if (!parsed) return fail("the trial above is invalid: " + parsed.error().to_string());
    first.trial = *parsed;
    return take_block("problem", first.outcome.problem);
  }

  std::string_view text_;
  std::uint64_t line_ = 0;
  std::string problem_;
  RunPlace first_place_;
};

// --- merging ------------------------------------------------------------------------------------

std::string shard_text(const Results& results) {
  return "shard " + std::to_string(results.shard) + " of " + std::to_string(results.shards);
}

/// In what the second is another exploration than the first; empty: in nothing.
std::string difference(const Results& one, const Results& other) {
  const auto not_this = [](const std::string& what, const std::string& is, const std::string& was) {
    return what + " '" + is + "', not '" + was + "'";
  };
  if (one.scenario != other.scenario) return not_this("scenario", other.scenario, one.scenario);
  if (one.writer != other.writer) return not_this("written by", other.writer, one.writer);
  if (one.shards != other.shards)
    return "of " + std::to_string(other.shards) + " shards, not of " + std::to_string(one.shards);
  const std::size_t count = std::max(one.options.size(), other.options.size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto text = [i](const Results& of) {
      return i < of.options.size() ? of.options[i].first + " " + of.options[i].second : "nothing";
    };
    if (text(one) != text(other)) return not_this("option", text(other), text(one));
  }
  return {};
}

void add(Exploration& sum, const Exploration& part) {
  sum.runs += part.runs;
  if (part.bits > sum.bits) sum.bits = part.bits, sum.last_new = part.last_new;
  sum.out_of_time |= part.out_of_time;
  sum.interrupted |= part.interrupted;
  if (sum.differs.empty()) sum.differs = part.differs;
  for (const auto& [fault, times] : part.fired) sum.fired[fault] += times;
  for (const auto& [name, sighting] : part.situations) {
    sum.situations[name].looked += sighting.looked;
    sum.situations[name].seen += sighting.seen;
  }
  for (const auto& [kind, times] : part.others) sum.others[kind] += times;
  for (const auto& [name, kind] : part.kinds) {
    FailureKind& all = sum.kinds[name];
    if (all.runs == 0 || kind.place < all.place) all.first = kind.first, all.place = kind.place;
    all.runs += kind.runs;
  }
}

}  // namespace

std::string Results::to_text() const {
  std::string text = std::string(kTitle) + "\nwritten by " + escaped(writer) + "\n";
  text += "scenario " + escaped(scenario) + "\n";
  for (const auto& [name, value] : options) text += "option " + escaped(name + " " + value) + "\n";
  text += shard_text(*this) + "\n";
  text += "runs " + std::to_string(found.runs) + "\n";
  text += "milliseconds " + std::to_string(milliseconds) + "\n";
  text += std::string("ended ") +
          (found.interrupted   ? "interrupted"
           : found.out_of_time ? "budget"
                               : "whole") +
          "\n";
  for (const auto& [fault, times] : found.fired) text += "fired " + number_and(times, fault);
  for (const auto& [name, sighting] : found.situations) {
    text += "situation " + std::to_string(sighting.seen) + " " + number_and(sighting.looked, name);
  }
  if (!found.differs.empty()) text += "differs\n" + block(found.differs);
  if (found.bits != 0) {
    text += "coverage " + std::to_string(found.bits) + " " + std::to_string(found.last_new) + "\n";
  }
  for (const auto& [kind, times] : found.others) text += "other " + number_and(times, kind);
  for (const auto& [name, kind] : found.kinds) text += text_of(name, kind);
  return text + "end\n";
}

verbs::OrWhyNot<Results> Results::parse(std::string_view text) {
  return ResultsReader(text).run();
}

std::string missing_shards(const std::vector<NamedResults>& parts) {
  constexpr unsigned kRangesSaid = 10;
  std::set<std::uint64_t> there;
  for (const auto& [name, results] : parts) there.insert(results.shard);
  there.insert(parts.front().second.shards);  // behind the last
  std::string text;
  unsigned ranges = 0;
  std::uint64_t next = 0;
  for (const std::uint64_t shard : there) {
    if (shard > next && ++ranges <= kRangesSaid) {
      text += (text.empty() ? "" : ", ") + std::to_string(next);
      if (shard - next > 1) text += "-" + std::to_string(shard - 1);
    }
    next = shard + 1;
  }
  return ranges > kRangesSaid ? text + " and more" : text;
}

verbs::OrWhyNot<Results> merge(const std::vector<NamedResults>& parts, bool partial) {
  std::vector<NamedResults> sorted = parts;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& one, const auto& other) {
    return one.second.shard < other.second.shard;
  });
  const auto& [first_name, first] = sorted.front();
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const auto& [name, results] = sorted[i];
    const std::string other = difference(first, results);
    if (!other.empty())
      return verbs::WhyNot{name + " is of another search than " + first_name + ": " + other + "."};
    if (results.shard == sorted[i - 1].second.shard)
      return verbs::WhyNot{name + " and " + sorted[i - 1].first + " are both " +
                           shard_text(results) + "."};
  }
  const std::string missing = missing_shards(sorted);
  if (!missing.empty() && !partial)
    return verbs::WhyNot{"of " + std::to_string(first.shards) + " shards of '" + first.scenario +
                         "' these are missing: " + missing +
                         ". To do without them, say --partial."};
  Results sum = first;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto& [name, results] = sorted[i];
    if (results.found.interrupted && !partial)
      return verbs::WhyNot{name + " was interrupted after " + std::to_string(results.found.runs) +
                           " runs. Run it again, or say --partial."};
    if (i == 0) continue;
    add(sum.found, results.found);
    sum.milliseconds += results.milliseconds;
  }
  const auto earliest = std::min_element(
      sum.found.kinds.begin(), sum.found.kinds.end(),
      [](const auto& one, const auto& other) { return one.second.place < other.second.place; });
  if (earliest != sum.found.kinds.end()) sum.found.failure = earliest->second.first;
  sum.shard = 0;
  sum.shards = 1;
  return sum;
}

}  // namespace anyrdma::sim
