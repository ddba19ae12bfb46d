// What `monitor` knows.
#include <optional>

#include "base/text.h"
#include "sim/debug/cluster/cluster.h"
#include "sim/debug/cluster/destination.h"
#include "sim/debug/cluster/listing.h"
#include "sim/host.h"
#include "sim/programs/process/process.h"
#include "sim/programs/supervisor/sandbox.h"
#include "sim/world.h"
#include "transport/fault/plan/scalars.h"

namespace anyrdma::sim::debug {
namespace {

constexpr std::string_view kHelp =
    "monitor COMMAND, where COMMAND is:\n"
    "  hosts         hosts with their addresses, and the time\n"
    "  who           what each thread that waits waits for, and since when\n"
    "  ids           ids and queue pairs, with their states\n"
    "  qp NAME       a queue pair, such as client#qp0x11 or 0x11, and its last 20 records\n"
    "  packets [N]   packets on their way, and the last N packets (default: 20)\n"
    "  trace [N]     the last N packets and events (default: 20)\n"
    "  goto TIME     the next `continue` stops at this virtual time, such as 10.5ms\n"
    "  goto record N the next `continue` stops before this record of the run's recording\n"
    "  goto failure  the next `continue` stops where the run fails, or ends\n"
    "  fault ACTION  this happens now, such as: cut client->server\n"
    "  record FILE   writes a recording of the run up to now\n"
    "  help          this list\n";
constexpr std::size_t kLines = 20;

/// `text` empty: kLines.
std::optional<std::size_t> count_in(std::string_view text) {
  std::size_t count = kLines;
  if (text.empty() || fault::parse_number(text, count)) return count;
  return std::nullopt;
}

std::string last_lines_of(const std::string& all, std::size_t lines) {
  std::size_t begin = all.size();
  for (; lines != 0 && begin != 0; --lines) {
    const std::size_t before = begin < 2 ? std::string::npos : all.rfind('\n', begin - 2);
    begin = before == std::string::npos ? 0 : before + 1;
  }
  return all.substr(begin);
}

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
      for (const Prefix& prefix : host->interfaces()[0].prefixes) text += " " + prefix.to_string();
      text += host->running() ? "\n" : " (has no power)\n";
    }
    return text;
  }
  if (verb == "ids") return "at " + now + " s:\n" + objects_text(story_so_far());
  if (verb == "qp") return queue_pair_text(story_so_far(), std::string(rest), kLines);
  if (verb == "trace" || verb == "packets") {
    const auto count = count_in(rest);
    if (!count) return std::string(verb) + ": '" + std::string(rest) + "' is no number\n";
    return verb == "trace" ? last_lines_of(world.trace().text(), *count)
                           : packets_text(story_so_far(), world.now().time_since_epoch(), *count);
  }
  if (verb == "goto") {
    const auto to = parse_destination(rest);
    return to ? go_to(*to) : to.error().sentence + "\n";
  }
  if (verb == "fault" && !rest.empty()) return add_fault(rest);
  if (verb == "record" && !rest.empty()) return write_recording(std::string(rest));
  return "unknown: '" + std::string(command) + "'. These are known:\n" + std::string(kHelp);
}

}  // namespace anyrdma::sim::debug
