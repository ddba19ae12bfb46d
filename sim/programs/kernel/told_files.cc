#include "sim/programs/kernel/told_files.h"

#include <array>
#include <cstdint>
#include <utility>

#include "base/number.h"
#include "sim/programs/kernel/told_tables.h"

namespace anyrdma::sim::programs {
namespace {

using told_text::Context;

template <char... characters>
std::string fixed(std::string_view /*text*/, const Context& /*context*/) {
  return {characters...};
}

std::string no_group_of(std::string_view /*text*/, const Context& /*context*/) {
  return "0::/\n";
}
std::string first_session_of(std::string_view /*text*/, const Context& /*context*/) {
  return "/autogroup-1 nice 0\n";
}
std::string no_user_of(std::string_view /*text*/, const Context& /*context*/) {
  return "4294967295";
}
std::string no_time_of(std::string_view /*text*/, const Context& /*context*/) {
  return "0 0 0\n";
}

struct Told {
  std::string_view name;  ///< of the file
  bool in_network;        ///< whether it is in a directory `net`
  std::string (*tell)(std::string_view text, const Context& context);
};

constexpr std::array<Told, 40> kTold{{
    {"stat", false, told_text::stat_of},
    {"status", false, told_text::status_of},
    {"statm", false, told_text::statm_of},
    {"io", false, told_text::zeros_of},
    {"schedstat", false, no_time_of},
    {"sched", false, fixed<>},
    {"maps", false, told_text::maps_of},
    {"smaps", false, told_text::smaps_of},
    {"smaps_rollup", false, told_text::smaps_of},
    {"numa_maps", false, fixed<>},
    {"mountinfo", false, told_text::mountinfo_of},
    {"limits", false, told_text::limits_of},
    {"cgroup", false, no_group_of},
    {"cpuset", false, fixed<'/', '\n'>},
    {"autogroup", false, first_session_of},
    {"oom_score", false, fixed<'0', '\n'>},
    {"auxv", false, told_text::vector_of},
    {"loginuid", false, no_user_of},
    {"sessionid", false, no_user_of},
    {"wchan", false, fixed<'0'>},
    {"stack", false, fixed<>},
    {"syscall", false, fixed<'r', 'u', 'n', 'n', 'i', 'n', 'g', '\n'>},
    {"tcp", true, told_text::first_line_of},
    {"tcp6", true, told_text::first_line_of},
    {"udp", true, told_text::first_line_of},
    {"udp6", true, told_text::first_line_of},
    {"raw", true, told_text::first_line_of},
    {"raw6", true, told_text::first_line_of},
    {"unix", true, told_text::first_line_of},
    {"netlink", true, told_text::first_line_of},
    {"packet", true, told_text::first_line_of},
    {"if_inet6", true, told_text::sorted_lines_of},
    {"protocols", true, told_text::first_line_of},
    {"softnet_stat", true, fixed<>},
    {"dev", true, told_text::counts_of},
    {"snmp", true, told_text::counts_of},
    {"snmp6", true, told_text::counters_of},
    {"netstat", true, told_text::counts_of},
    {"sockstat", true, told_text::counts_of},
    {"sockstat6", true, told_text::counts_of},
}};

/// The components of a path, the last one first: `unix`, `net`, `17`.
std::array<std::string_view, 3> last_names(std::string_view path) {
  std::array<std::string_view, 3> names{};
  for (std::string_view& name : names) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string_view::npos) break;
    name = path.substr(slash + 1);
    path = path.substr(0, slash);
  }
  return names;
}

const Told* find_told(std::string_view path) {
  static constexpr Told kDescriptor{"fdinfo", false, told_text::descriptor_of};
  static constexpr Told kObjects{"sysvipc", false, told_text::objects_of};
  const auto [name, parent, grandparent] = last_names(path);
  if (parent == "fdinfo" && whole_number<std::uint64_t>(name)) return &kDescriptor;
  if (parent == "sysvipc") return &kObjects;
  for (const Told& each : kTold) {
    // Below /proc itself there are files of the same name that tell of the machine.
    const bool there =
        each.in_network ? parent == "net" : whole_number<std::uint64_t>(parent).has_value();
    if (each.name == name && there) return &each;
  }
  return nullptr;
}

}  // namespace

bool is_told(std::string_view path) {
  return find_told(path) != nullptr;
}

std::string told(std::string_view path, std::string text, Numbers& numbers,
                 const ToldProcess& process) {
  const Told* const known = find_told(path);
  if (known == nullptr) return text;
  // Who reads has stopped for the simulator, and runs for all others.
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kStates{
      {{") t ", ") R "}, {"t (tracing stop)", "R (running)"}}};
  for (const auto& [stopped, runs] : kStates) {
    const std::size_t at = process.running ? text.find(stopped) : std::string::npos;
    if (at != std::string::npos) text.replace(at, stopped.size(), runs);
  }
  return known->tell(text, {numbers, process});
}

std::optional<pid_t> thread_of(std::string_view path) {
  const auto [name, parent, grandparent] = last_names(path);
  const auto number =
      name == "stat" || name == "status" ? whole_number<std::uint64_t>(parent) : std::nullopt;
  return number ? std::optional(static_cast<pid_t>(*number)) : std::nullopt;
}

std::optional<std::string> told_link(std::string_view target, Numbers& numbers) {
  const std::size_t bracket = target.find(":[");
  if (bracket == std::string_view::npos || !target.ends_with(']')) return std::nullopt;
  const std::string_view kind = target.substr(0, bracket);
  const auto number =
      whole_number<std::uint64_t>(target.substr(bracket + 2, target.size() - bracket - 3));
  if (!number || kind.find('/') != std::string_view::npos) return std::nullopt;
  const bool nameless = kind == "socket" || kind == "pipe";
  return std::string(kind) + ":[" +
         std::to_string(
             numbers.of(nameless ? Numbers::Kind::kInode : Numbers::Kind::kNamespace, *number)) +
         "]";
}

}  // namespace anyrdma::sim::programs
