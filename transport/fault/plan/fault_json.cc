#include "transport/fault/plan/fault_json.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <initializer_list>
#include <utility>

#include "transport/fault/plan/json_tree.h"
#include "transport/fault/plan/scalars.h"
#include "transport/fault/plan/words.h"

namespace anyrdma::fault {
namespace {

namespace json = boost::json;

// --- to JSON ------------------------------------------------------------------------------------

/// Numbers are numbers, where reading them gives the same word.
json::value value_of(const Word& word) {
  std::uint64_t number = 0;
  const bool data = word.key == "data";
  if (!data && parse_number(word.text, number) && std::to_string(number) == word.text) {
    return number;
  }
  return json::string(word.text);
}

json::object object_of(const Phrase& phrase, const char* kind_key) {
  json::object object;
  object[kind_key] = phrase.kind;
  for (const Word& word : phrase.words) object[word.key] = value_of(word);
  return object;
}

json::object object_of(const Fault& fault) {
  json::object object;
  object["when"] = object_of(phrase_of(fault.trigger), "on");
  object["then"] = object_of(phrase_of(fault.action), "do");
  if (fault.maybe) object["maybe"] = true;
  if (!fault.lasts.for_ever()) object[kFor] = word_of(fault.lasts);
  return object;
}

// --- from JSON ----------------------------------------------------------------------------------

/// Reads a tree; the first problem ends it.
class PlanReader {
 public:
  PlanResult<FaultPlan> read(const JsonNode& root);

 private:
  [[nodiscard]] bool fail(std::size_t line, std::string reason) {
    error_ = {line, std::move(reason)};
    return false;
  }
  [[nodiscard]] bool is_object(const JsonNode& node, std::string_view what) {
    if (node.kind == JsonKind::kObject) return true;
    return fail(node.line, std::string(what) + " is an object");
  }
  [[nodiscard]] bool knows_keys(const JsonNode& node,
                                std::initializer_list<std::string_view> keys) {
    for (const JsonMember& member : node.members) {
      if (std::find(keys.begin(), keys.end(), member.key) != keys.end()) continue;
      return fail(member.line, "unknown key " + in_quotes(member.key));
    }
    return true;
  }
  [[nodiscard]] const JsonNode* need(const JsonNode& object, std::string_view key) {
    for (const JsonMember& member : object.members) {
      if (member.key == key) return &member.value;
    }
    (void)fail(object.line, "key " + in_quotes(key) + " is missing");
    return nullptr;
  }
  [[nodiscard]] bool read_fault(const JsonNode& node, Fault& fault);
  [[nodiscard]] bool read_maybe(const JsonNode& node, bool& maybe);
  [[nodiscard]] bool read_lasting(const JsonNode& node, Lasting& lasts);
  /// A trigger or an action.
  template <class Part>
  [[nodiscard]] bool read_part(const JsonNode& parent, std::string_view key,
                               std::string_view kind_key, Part& part);

  PlanError error_;
};

PlanResult<FaultPlan> PlanReader::read(const JsonNode& root) {
  FaultPlan plan;
  if (!is_object(root, "a plan") || !knows_keys(root, {"faults"})) return error_;
  const JsonNode* faults = need(root, "faults");
  if (faults == nullptr) return error_;
  if (faults->kind != JsonKind::kArray) return PlanError{faults->line, "'faults' is an array"};
  for (const JsonNode& each : faults->elements) {
    if (!read_fault(each, plan.faults.emplace_back())) return error_;
  }
  return plan;
}

bool PlanReader::read_fault(const JsonNode& node, Fault& fault) {
  if (!is_object(node, "a fault") || !knows_keys(node, {"when", "then", "maybe", kFor}))
    return false;
  if (!read_part(node, "when", "on", fault.trigger)) return false;
  if (!read_part(node, "then", "do", fault.action)) return false;
  if (!read_maybe(node, fault.maybe) || !read_lasting(node, fault.lasts)) return false;
  std::string problem = problem_with(fault);
  return problem.empty() || fail(node.line, std::move(problem));
}

bool PlanReader::read_maybe(const JsonNode& node, bool& maybe) {
  for (const JsonMember& member : node.members) {
    if (member.key != "maybe") continue;
    if (member.value.kind != JsonKind::kBool) return fail(member.line, "'maybe' is true or false");
    maybe = member.value.truth;
  }
  return true;
}

bool PlanReader::read_lasting(const JsonNode& node, Lasting& lasts) {
  for (const JsonMember& member : node.members) {
    if (member.key != kFor) continue;
    if (member.value.kind != JsonKind::kString) return fail(member.line, "'for' is a string");
    std::string problem = parse_word(kFor, member.value.text, lasts);
    if (!problem.empty()) return fail(member.line, std::move(problem));
  }
  return true;
}

template <class Part>
bool PlanReader::read_part(const JsonNode& parent, std::string_view key, std::string_view kind_key,
                           Part& part) {
  const JsonNode* node = need(parent, key);
  if (node == nullptr || !is_object(*node, in_quotes(key))) return false;
  const JsonNode* kind = need(*node, kind_key);
  if (kind == nullptr) return false;
  if (kind->kind != JsonKind::kString) {
    return fail(kind->line, in_quotes(kind_key) + " is a string");
  }
  Phrase phrase{kind->text, {}, node->line};
  for (const JsonMember& member : node->members) {
    if (member.key == kind_key) continue;
    if (member.value.kind != JsonKind::kString && member.value.kind != JsonKind::kNumber) {
      return fail(member.line, in_quotes(member.key) + " is a string or a number");
    }
    phrase.words.push_back({member.key, member.value.text, member.line});
  }
  WordProblem problem = read_phrase(phrase, Order::kByKey, part);
  return problem.reason.empty() || fail(problem.line, std::move(problem.reason));
}

}  // namespace

std::string to_json(const FaultPlan& plan) {
  std::string text = "{\"faults\": [";
  std::string_view separator = "\n  ";
  for (const Fault& fault : plan.faults) {
    text += separator;
    text += json::serialize(object_of(fault));
    separator = ",\n  ";
  }
  return text + (plan.faults.empty() ? "]}\n" : "\n]}\n");
}

PlanResult<FaultPlan> parse_json(std::string_view text) {
  const JsonTree tree = parse_json_tree(text);
  if (tree.error_line != 0) return PlanError{tree.error_line, tree.error};
  return PlanReader().read(tree.root);
}

PlanResult<FaultPlan> parse_either(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string_view::npos && text[first] == '{';
  return is_json ? parse_json(text) : FaultPlan::parse(text);
}

}  // namespace anyrdma::fault
