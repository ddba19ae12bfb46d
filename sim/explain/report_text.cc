#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/text.h"
#include "sim/explain/report.h"

namespace anyrdma::sim::explain {
namespace {

class Text {
 public:
  explicit Text(const Report& report) : report_(report), found_(report.explanation) {}

  std::string write() {
    if (!found_.fails) {
      text_ = found_.out_of_time ? "The time was over before the first run ended.\n"
                                 : "The trial does not fail: nothing is to be explained.\n";
      return text_ + command(found_.trial);
    }
    text_ = "The trial fails like this:\n" + indented(found_.problem, "  ");
    for (std::size_t i = 0; i < found_.faults.size(); ++i) add_fault(i);
    if (found_.memory) add_memory(*found_.memory);
    add_nearest();
    add_pair();
    if (found_.curve) add_curve(*found_.curve);
    if (!report_.difference.empty()) {
      text_ += "\nThe first difference between the failing run and the nearest passing one:\n" +
               indented(report_.difference, "  ");
    }
    append(text_, "\n%llu runs", static_cast<unsigned long long>(report_.runs));
    text_ += found_.out_of_time ? "; the budget ended the search early\n" : "\n";
    return text_;
  }

 private:
  [[nodiscard]] static std::string indented(std::string_view lines, std::string_view by) {
    std::string text;
    while (!lines.empty()) {
      const std::size_t end = std::min(lines.find('\n'), lines.size() - 1);
      text += std::string(by) + std::string(lines.substr(0, end + 1));
      lines.remove_prefix(end + 1);
    }
    if (!text.empty() && text.back() != '\n') text += '\n';
    return text;
  }

  [[nodiscard]] std::string command(const Trial& trial) const {
    return "  " + report_.replay + " '" + trial.to_string() + "'\n";
  }

  [[nodiscard]] static std::string at(verbs::Duration time) { return seconds_text(time) + " s"; }

  void add_stack(const Sight& sight, std::string_view by) {
    for (const std::string& frame : sight.stack) text_ += std::string(by) + frame + "\n";
  }

  [[nodiscard]] static std::string where(const Sight& sight) {
    return (sight.call.empty() ? "" : "in " + sight.call + ", called ") + "at " + sight.place;
  }

  /// In a line.
  [[nodiscard]] static std::string brief(const Sight& sight) {
    return sight.name + ": " + where(sight);
  }

  void add_fault(std::size_t number) {
    const Condition& fault = found_.faults[number];
    text_ += "\nThe fault '" + fault.text + "' is " +
             (fault.needed ? "needed: without it the run passes.\n"
                           : "not needed: without it the run fails, too.\n");
    if (fault.window) add_window(*fault.window);
    const auto moment = std::ranges::find_if(
        report_.moments, [&](const auto& each) { return each.fault == number; });
    if (moment == report_.moments.end()) {
      text_ += "It did not happen in this run.\n";
      return;
    }
    text_ += "It first happened at " + at(moment->time) + ".";
    text_ += moment->threads.empty() ? "\n" : " The threads of the programs were here:\n";
    for (const Sight& sight : moment->threads) text_ += "  " + brief(sight) + "\n";
  }

  void add_window(const Window& window) {
    text_ += "The run fails if it happens from " + at(window.first) + " to " + at(window.last);
    if (window.before) text_ += ", passes if it happens at " + at(*window.before);
    if (window.after)
      text_ += std::string(window.before ? " or" : ", passes if it happens") + " at " +
               at(*window.after);
    text_ += ".\n";
  }

  void add_memory(const Condition& memory) {
    text_ += "\nThe memory order '" + memory.text + "' is " +
             (memory.needed ? "needed: with strict memory the run passes.\n"
                            : "not needed: with strict memory the run fails, too.\n");
    if (!found_.memory_turn) return;
    const MemoryTurn& turn = *found_.memory_turn;
    append(text_, "Choice %llu of the devices turns the verdict. With it and those before it:\n",
           static_cast<unsigned long long>(turn.choice));
    text_ += command(turn.fails) + "and with those before it only:\n" + command(turn.passes);
  }

  void add_nearest() {
    const auto passing = nearest_passing(found_);
    text_ += passing ? "\nThe nearest passing trial that was found:\n" + command(*passing)
                     : "\nNo passing trial was found.\n";
  }

  void add_mover(std::string_view which, const Sight& before, const Sight& after) {
    text_ += std::string(which) + before.name + "\n";
    if (before.stack.empty()) return;
    text_ +=
        before.place.empty() ? "    runs no code of the program\n" : "    " + where(before) + "\n";
    add_stack(before, "      ");
    if (after.stack.empty() || after.stack == before.stack) return;
    text_ += after.place.empty() ? "    its step ends here:\n"
                                 : "    its step ends " + where(after) + "\n";
    add_stack(after, "      ");
  }

  void add_pair() {
    if (!found_.pair) {
      if (!found_.no_pair.empty())
        text_ += "\nThere is no critical pair: " + found_.no_pair + ".\n";
      return;
    }
    append(text_,
           "\nThe critical pair, at %s, scheduling decision %llu. If the first step runs before "
           "the\nsecond one, the run fails. If they are exchanged, it passes.\n",
           at(found_.pair->time).c_str(), static_cast<unsigned long long>(found_.pair->point));
    add_steps(*found_.pair, report_.pair);
    for (std::size_t i = 0; i < found_.ends.size(); ++i) {
      const CriticalPair& end = found_.ends[i];
      append(text_,
             "\nThe run also passes if these two steps are exchanged, at %s, decision %llu.\n",
             at(end.time).c_str(), static_cast<unsigned long long>(end.point));
      add_steps(end, i < report_.ends.size() ? std::optional(report_.ends[i]) : std::nullopt);
    }
  }

  void add_steps(const CriticalPair& pair, const std::optional<Witness::Pair>& seen) {
    if (seen) {
      add_mover("  first:  ", seen->first, seen->first_after);
      add_mover("  second: ", seen->second, seen->second_after);
    }
    text_ += "  with the first step before the second one:\n  " + command(pair.fails);
    text_ += "  with the second step before the first one:\n  " + command(pair.passes);
  }

  void add_curve(const Curve& curve) {
    text_ +=
        "\nHow likely the failure is if the run goes on with other seeds from a decision on:\n"
        "  decision          time  failures\n";
    for (const CurvePoint& each : curve.points) {
      append(text_, "  %8llu  %s  %2zu of %-2zu  %s\n",
             static_cast<unsigned long long>(each.decision), seconds_text(each.time).c_str(),
             each.failures, each.runs, bar(each.share()).c_str());
    }
    if (curve.points.size() < 2) return;
    const CurvePoint& from = curve.points[curve.jump];
    const CurvePoint& to = curve.points[curve.jump + 1];
    if (to.share() <= from.share()) return;
    append(text_,
           "It became likely between decisions %llu and %llu, at %s: the share of failures rises "
           "from\n%.0f %% to %.0f %%.\n",
           static_cast<unsigned long long>(from.decision),
           static_cast<unsigned long long>(to.decision), at(to.time).c_str(), 100 * from.share(),
           100 * to.share());
  }

  [[nodiscard]] static std::string bar(double share) {
    constexpr double kWidth = 30;
    return std::string(static_cast<std::size_t>(std::lround(share * kWidth)), '#');
  }

  const Report& report_;
  const Explanation& found_;
  std::string text_;
};

}  // namespace

std::optional<Trial> nearest_passing(const Explanation& explanation) {
  if (explanation.pair) return explanation.pair->passes;
  if (explanation.memory_turn) return explanation.memory_turn->passes;
  for (const Condition& fault : explanation.faults) {
    if (fault.needed) return fault.without;
  }
  if (explanation.memory && explanation.memory->needed) return explanation.memory->without;
  return std::nullopt;
}

const Trial& nearest_failing(const Explanation& explanation) {
  if (explanation.pair) return explanation.pair->fails;
  return explanation.memory_turn ? explanation.memory_turn->fails : explanation.trial;
}

std::string to_text(const Report& report) {
  return Text(report).write();
}

}  // namespace anyrdma::sim::explain
