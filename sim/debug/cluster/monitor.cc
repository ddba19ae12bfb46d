// What `monitor` knows.
#include <array>
#include <cstdio>

#include "sim/debug/cluster/cluster.h"
#include "sim/host.h"
#include "sim/programs/process.h"
#include "sim/programs/sandbox.h"
#include "sim/text/text.h"
#include "sim/world.h"
#include "transport/fault/plan/scalars.h"

namespace anyrdma::sim::debug {
namespace {

constexpr std::string_view kHelp =
    "monitor COMMAND, where COMMAND is:\n"
    "  hosts         hosts with their addresses, and the time\n"
    "  who           what each thread that waits waits for, and since when\n"
    "  goto TIME     the next `continue` stops at this virtual time, such as 10.5ms\n"
    "  goto failure  the next `continue` stops where the run fails, or ends\n"
    "  trace [N]     the last N packets and events (default: 20; needs --trace)\n"
    "  help          this list\n";

}  // namespace

std::string Cluster::monitor(std::string_view command) {
  const std::size_t space = command.find(' ');
  const std::string_view verb = command.substr(0, space);
  const std::string_view rest =
      space == std::string_view::npos ? std::string_view() : command.substr(space + 1);
  if (over_ || sandbox_ == nullptr) return "the run is over\n";
  World& world = sandbox_->world();
  const std::string now = seconds_text(world.now().time_since_epoch());
  if (verb == "help") return std::string(kHelp);
  if (verb == "who") return "at " + now + " s these wait:\n" + world.stuck_report();
  if (verb == "hosts") {
    std::string text = "at " + now + " s:\n";
    for (const auto& host : world.hosts()) {
      text += host->name();
      for (const Prefix& prefix : host->prefixes(0)) text += " " + prefix.to_string();
      text += host->running() ? "\n" : " (has no power)\n";
    }
    return text;
  }
  if (verb == "trace") {
    std::size_t lines = 20;
    if (!rest.empty() && std::sscanf(std::string(rest).c_str(), "%zu", &lines) != 1)
      return "trace: '" + std::string(rest) + "' is no number\n";
    const std::string all = world.trace().text();
    if (all.empty()) return "there is no trace: give sim or replay --trace as well\n";
    std::size_t begin = all.size();
    for (; lines != 0 && begin != 0; --lines) {
      const std::size_t before = begin < 2 ? std::string::npos : all.rfind('\n', begin - 2);
      begin = before == std::string::npos ? 0 : before + 1;
    }
    return all.substr(begin);
  }
  if (verb == "goto" && rest == "failure") {
    next_goal_ = Goal::kFailure;
    return "`continue` stops where the run fails\n";
  }
  if (verb == "goto" && !rest.empty()) {
    verbs::Duration time{};
    if (const std::string problem = fault::parse_word("goto", std::string(rest), time);
        !problem.empty() || time < verbs::Duration::zero())
      return "goto: '" + std::string(rest) + "' is no time: write 10.5ms, for example\n";
    time_ = verbs::Instant{} + time;
    next_goal_ = Goal::kTime;
    return "`continue` stops at " + seconds_text(time) + " s" +
           (time_ <= world.now() ? ", in a new run of the trial\n" : "\n");
  }
  return "unknown: '" + std::string(command) + "'. These are known:\n" + std::string(kHelp);
}

}  // namespace anyrdma::sim::debug
