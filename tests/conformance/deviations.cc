#include "tests/conformance/deviations.h"

#include <algorithm>
#include <boost/json.hpp>
#include <initializer_list>
#include <stdexcept>

namespace anyrdma::conformance {
namespace {

namespace json = boost::json;

/// What is wrong with the table; does not leave this file.
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Views, for g++ 14 takes a reference that was found with the help of a temporary for one into it.
const json::object& object_with(const json::value& value,
                                std::initializer_list<std::string_view> members,
                                std::string_view where) {
  if (!value.is_object()) throw Refused(std::string(where) + " is not an object");
  for (const auto& member : value.get_object()) {
    const std::string_view key(member.key());
    if (std::ranges::find(members, key) == members.end()) {
      throw Refused(std::string(where) + " has an unknown member " + std::string(key));
    }
  }
  return value.get_object();
}

const json::array& array_in(const json::object& object, const char* key, std::string_view where) {
  const json::value* const found = object.if_contains(key);
  if (found == nullptr || !found->is_array()) {
    throw Refused(std::string(where) + " has no list " + key);
  }
  return found->get_array();
}

std::string text_in(const json::object& object, const char* key, const std::string& where) {
  const json::value* const found = object.if_contains(key);
  if (found == nullptr || !found->is_string() || found->get_string().empty()) {
    throw Refused(where + " has no text " + key);
  }
  return std::string(found->get_string());
}

void check_names(const std::string& scenario, const std::string& backend) {
  if (std::ranges::find(scenarios(), scenario, &Scenario::full_name) == scenarios().end()) {
    throw Refused("no such scenario: " + scenario);
  }
  if (find_backend_kind(backend) == nullptr) throw Refused("no such backend: " + backend);
}

void add_difference(Deviations& table, const json::value& value, std::size_t deviation) {
  const std::string& name = table.all[deviation].name;
  const json::object& object =
      object_with(value, {"scenario", "backend", "lines", "not_run"}, "a difference of " + name);
  const std::string scenario = text_in(object, "scenario", name);
  const std::string backend = text_in(object, "backend", name);
  check_names(scenario, backend);
  const std::string where = scenario + " on " + backend;
  Difference difference{.deviation = deviation, .not_run = object.contains("not_run"), .lines = {}};
  if (difference.not_run) {
    if (object.contains("lines") || object.at("not_run") != true) {
      throw Refused(where + ": not_run is true, and without lines");
    }
  } else {
    for (const json::value& line : array_in(object, "lines", where)) {
      const bool fits = line.is_string() && !line.get_string().empty() &&
                        (line.get_string().front() == '+' || line.get_string().front() == '-');
      if (!fits) throw Refused(where + ": a line begins with + or -");
      difference.lines.emplace_back(line.get_string());
    }
    if (difference.lines.empty()) throw Refused(where + ": no line differs");
  }
  if (!table.differences.emplace(std::pair(scenario, backend), std::move(difference)).second) {
    throw Refused(where + " is listed twice");
  }
}

void add_deviation(Deviations& table, const json::value& value) {
  const json::object& object =
      object_with(value, {"name", "reason", "link", "differences"}, "a deviation");
  const std::string name = text_in(object, "name", "a deviation");
  if (std::ranges::find(table.all, name, &Deviation::name) != table.all.end()) {
    throw Refused(name + " is there twice");
  }
  table.all.push_back({.name = name,
                       .reason = text_in(object, "reason", name),
                       .link = text_in(object, "link", name)});
  const json::array& differences = array_in(object, "differences", name);
  if (differences.empty()) throw Refused(name + " explains nothing");
  for (const json::value& each : differences) add_difference(table, each, table.all.size() - 1);
}

}  // namespace

const Difference* Deviations::find(const std::string& scenario, std::string_view backend) const {
  const auto found = differences.find({scenario, std::string(backend)});
  return found == differences.end() ? nullptr : &found->second;
}

Deviations parse_deviations(std::string_view text, std::string& problem) {
  boost::system::error_code error;
  const json::value root = json::parse({text.data(), text.size()}, error);
  if (error) {
    problem = "not JSON: " + error.message();
    return {};
  }
  Deviations table;
  try {
    const json::object& object = object_with(root, {"deviations"}, "the table");
    for (const json::value& each : array_in(object, "deviations", "the table")) {
      add_deviation(table, each);
    }
  } catch (const Refused& refused) {
    problem = refused.what();
    return {};
  }
  return table;
}

std::string difference_text(const std::string& scenario, std::string_view backend,
                            const Lines& lines) {
  std::string text =
      "        {\n          \"scenario\": " + json::serialize(json::string(scenario)) +
      ",\n          \"backend\": " + json::serialize(json::string(backend)) +
      ",\n          \"lines\": [";
  const char* separator = "\n";
  for (const std::string& line : lines) {
    text += separator + ("            " + json::serialize(json::string(line)));
    separator = ",\n";
  }
  return text + "\n          ]\n        },\n";
}

}  // namespace anyrdma::conformance
