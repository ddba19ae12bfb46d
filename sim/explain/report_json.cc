#include <string_view>

#include "base/text.h"
#include "recording/view/json.h"
#include "sim/explain/report.h"

namespace anyrdma::sim::explain {
namespace {

using recording::json_string;

/// An object or an array under construction.
class Json {
 public:
  explicit Json(char open) : text_(1, open) {}

  Json& raw(std::string_view key, std::string_view value) {
    separate();
    if (!key.empty()) text_ += json_string(key) + ":";
    text_ += value;
    return *this;
  }
  Json& text(std::string_view key, std::string_view value) { return raw(key, json_string(value)); }
  Json& number(std::string_view key, std::uint64_t value) {
    return raw(key, std::to_string(value));
  }
  Json& time(std::string_view key, verbs::Duration value) {
    return raw(key, std::to_string(value.count()));
  }
  Json& truth(std::string_view key, bool value) { return raw(key, value ? "true" : "false"); }
  [[nodiscard]] std::string end() { return text_ + (text_.front() == '{' ? "}" : "]"); }

 private:
  void separate() {
    if (text_.size() > 1) text_ += ',';
  }
  std::string text_;
};

std::string json_of(const Sight& sight) {
  Json stack('[');
  for (const std::string& frame : sight.stack) stack.text("", frame);
  return Json('{')
      .text("name", sight.name)
      .text("call", sight.call)
      .text("place", sight.place)
      .raw("stack", stack.end())
      .end();
}

std::string faults_of(const Report& report) {
  Json all('[');
  for (std::size_t i = 0; i < report.explanation.faults.size(); ++i) {
    const Condition& fault = report.explanation.faults[i];
    Json one('{');
    one.text("fault", fault.text).truth("needed", fault.needed);
    if (fault.needed) one.text("passes", fault.without.to_string());
    if (fault.window) {
      one.time("fails_from", fault.window->first).time("fails_to", fault.window->last);
      if (fault.window->before) one.time("passes_before", *fault.window->before);
      if (fault.window->after) one.time("passes_after", *fault.window->after);
    }
    for (const FaultWitness::Moment& moment : report.moments) {
      if (moment.fault != i) continue;
      Json threads('[');
      for (const Sight& sight : moment.threads) threads.raw("", json_of(sight));
      one.time("time", moment.time).number("decision", moment.point).raw("threads", threads.end());
    }
    all.raw("", one.end());
  }
  return all.end();
}

std::string pair_of(const CriticalPair& pair, const std::optional<Witness::Pair>& seen) {
  Json json('{');
  json.time("time", pair.time).number("decision", pair.point);
  if (seen) {
    json.raw("first", json_of(seen->first))
        .raw("first_after", json_of(seen->first_after))
        .raw("second", json_of(seen->second))
        .raw("second_after", json_of(seen->second_after));
  }
  return json.text("fails", pair.fails.to_string()).text("passes", pair.passes.to_string()).end();
}

std::string ends_of(const Report& report) {
  Json all('[');
  for (std::size_t i = 0; i < report.explanation.ends.size(); ++i) {
    const auto seen = i < report.ends.size() ? std::optional(report.ends[i]) : std::nullopt;
    all.raw("", pair_of(report.explanation.ends[i], seen));
  }
  return all.end();
}

std::string curve_of(const Curve& curve) {
  Json points('[');
  for (const CurvePoint& each : curve.points) {
    points.raw("", Json('{')
                       .number("decision", each.decision)
                       .time("time", each.time)
                       .number("runs", each.runs)
                       .number("failures", each.failures)
                       .end());
  }
  return Json('{').raw("points", points.end()).number("jump", curve.jump).end();
}

}  // namespace

std::string to_json(const Report& report) {
  const Explanation& found = report.explanation;
  Json json('{');
  json.text("trial", found.trial.to_string()).truth("fails", found.fails);
  json.text("problem", found.problem).raw("faults", faults_of(report));
  if (found.memory) {
    Json memory('{');
    memory.text("profile", found.memory->text).truth("needed", found.memory->needed);
    if (found.memory_turn) {
      memory.number("choice", found.memory_turn->choice)
          .text("fails", found.memory_turn->fails.to_string())
          .text("passes", found.memory_turn->passes.to_string());
    }
    json.raw("memory", memory.end());
  }
  if (const auto passing = nearest_passing(found)) json.text("passes", passing->to_string());
  if (found.pair) json.raw("pair", pair_of(*found.pair, report.pair));
  if (found.pair) json.raw("ends", ends_of(report));
  if (!found.no_pair.empty()) json.text("no_pair", found.no_pair);
  if (found.curve) json.raw("curve", curve_of(*found.curve));
  json.text("difference", report.difference);
  json.number("runs", report.runs).truth("out_of_time", found.out_of_time);
  return json.end() + "\n";
}

}  // namespace anyrdma::sim::explain
