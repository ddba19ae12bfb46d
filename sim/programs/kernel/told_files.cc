#include "sim/programs/kernel/told_files.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace anyrdma::sim::programs {
namespace {

using Kind = Numbers::Kind;

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Each line, without its end, as `change` returns it.
template <typename Change>
std::string each_line(std::string_view text, Change change) {
  std::string changed;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    changed += change(text.substr(0, end));
    if (end < text.size()) changed += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return changed;
}

std::string joined_with_blanks(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// --- of a process -------------------------------------------------------------------------------

/// Fields from the third on, as proc(5) counts them.
std::string stat_of(std::string_view text, Numbers& /*numbers*/) {
  constexpr std::size_t kFirst = 3;
  struct Field {
    std::size_t number;
    const char* value;
  };
  constexpr std::array<Field, 22> kOurs{
      {{7, "0"},     {8, "-1"}, {9, "4194304"}, {10, "0"}, {11, "0"}, {12, "0"},
       {13, "0"},    {14, "0"}, {15, "0"},      {16, "0"}, {17, "0"}, {22, "100000"},
       {24, "1024"}, {29, "0"}, {30, "0"},      {35, "0"}, {36, "0"}, {37, "0"},
       {39, "0"},    {42, "0"}, {43, "0"},      {44, "0"}}};
  const std::size_t name_end = text.rfind(") ");
  if (name_end == std::string_view::npos) return std::string(text);
  std::vector<std::string> fields;
  const std::string_view rest = text.substr(name_end + 2);
  for (const std::string_view field : split_at(rest.substr(0, rest.find('\n')), ' '))
    fields.emplace_back(field);
  for (const auto& [number, value] : kOurs) {
    if (number - kFirst < fields.size()) fields[number - kFirst] = value;
  }
  if (fields.front() == "t") fields.front() = "S";  // it waits in the simulator
  return std::string(text.substr(0, name_end + 2)) + joined_with_blanks(fields) + "\n";
}

std::string status_of(std::string_view text, Numbers& /*numbers*/) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kOurs{
      {{"VmHWM", "    4096 kB"},
       {"VmRSS", "    4096 kB"},
       {"RssAnon", "    2048 kB"},
       {"RssFile", "    2048 kB"},
       {"RssShmem", "       0 kB"},
       {"VmPTE", "      64 kB"},
       {"VmSwap", "       0 kB"},
       {"HugetlbPages", "       0 kB"},
       {"TracerPid", "0"},
       {"SigQ", "0/32768"},
       {"Cpus_allowed", "3"},
       {"Cpus_allowed_list", "0-1"},
       {"Mems_allowed_list", "0"},
       {"voluntary_ctxt_switches", "0"},
       {"nonvoluntary_ctxt_switches", "0"}}};
  return each_line(text, [&](std::string_view line) {
    const std::string_view name = line.substr(0, line.find(':'));
    const auto* const known =
        std::ranges::find(kOurs, name, [](const auto& each) { return each.first; });
    if (known != kOurs.end()) return std::string(name) + ":\t" + std::string(known->second);
    if (name == "State" && line.ends_with("(tracing stop)"))
      return std::string("State:\tS (sleeping)");
    return std::string(line);
  });
}

/// Pages: all of them, of which so many are there.
std::string statm_of(std::string_view text, Numbers& /*numbers*/) {
  std::vector<std::string> fields;
  for (const std::string_view field : split_at(text.substr(0, text.find('\n')), ' '))
    fields.emplace_back(field);
  if (fields.size() < 3) return std::string(text);
  fields[1] = "1024";
  fields[2] = "512";
  return joined_with_blanks(fields) + "\n";
}

/// `name: 17` becomes `name: 0`.
std::string zeros_of(std::string_view text, Numbers& /*numbers*/) {
  return each_line(text, [](std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return std::string(line);
    return std::string(line.substr(0, colon)) + ": 0";
  });
}

/// `7f00-7f01 r--p 00000000 00:2f 1234   /memfd:x (deleted)`: the device and inode of what is no
/// file of a disk.
std::string mapping_of(std::string_view line, Numbers& numbers) {
  constexpr std::size_t kDevice = 3;
  constexpr std::size_t kInode = 4;
  std::vector<std::string> words;
  for (const std::string_view word : split_at(line, ' ')) words.emplace_back(word);
  if (words.size() <= kInode || !words[kDevice].starts_with("00:")) return std::string(line);
  const auto inode = number_in(words[kInode]);
  if (!inode || *inode == 0) return std::string(line);
  words[kDevice] = "00:01";
  words[kInode] = std::to_string(numbers.of(Kind::kInode, *inode));
  return joined_with_blanks(words);
}

std::string maps_of(std::string_view text, Numbers& numbers) {
  return each_line(text, [&](std::string_view line) { return mapping_of(line, numbers); });
}

/// A line of maps(5), then how much of it is in memory.
std::string smaps_of(std::string_view text, Numbers& numbers) {
  constexpr std::array<std::string_view, 4> kStay{
      "Size:", "KernelPageSize:", "MMUPageSize:", "VmFlags:"};
  return each_line(text, [&](std::string_view line) {
    const std::string_view word = line.substr(0, line.find(' '));
    if (!word.ends_with(':')) return mapping_of(line, numbers);
    if (std::ranges::find(kStay, word) != kStay.end() || !line.ends_with(" kB"))
      return std::string(line);
    return std::string(word) + " 0 kB";
  });
}

/// `36 35 98:0 / /mnt rw master:1 - ext4 /dev/root rw`.
std::string mountinfo_of(std::string_view text, Numbers& numbers) {
  return each_line(text, [&](std::string_view line) {
    std::vector<std::string> words;
    for (const std::string_view word : split_at(line, ' ')) words.emplace_back(word);
    if (words.size() < 3) return std::string(line);
    for (const std::size_t i : {0u, 1u}) {
      if (const auto number = number_in(words[i]))
        words[i] = std::to_string(numbers.of(Kind::kMount, *number));
    }
    if (words[2].starts_with("0:")) {
      if (const auto number = number_in(std::string_view(words[2]).substr(2)))
        words[2] = "0:" + std::to_string(numbers.of(Kind::kDevice, *number));
    }
    for (std::string& word : words) {
      for (const std::string_view kind : {"shared:", "master:", "propagate_from:"}) {
        if (word.starts_with(kind)) word = std::string(kind) + "1";
      }
    }
    return joined_with_blanks(words);
  });
}

std::string descriptor_of(std::string_view text, Numbers& numbers) {
  constexpr std::array<std::pair<std::string_view, Kind>, 2> kOurs{
      {{"mnt_id", Kind::kMount}, {"ino", Kind::kInode}}};
  return each_line(text, [&](std::string_view line) {
    const std::size_t colon = line.find(':');
    const std::string_view name = line.substr(0, colon);
    // The kernel gives it to another one later.
    if (name == "eventfd-id") return std::string("eventfd-id: 1");
    const auto* const known =
        std::ranges::find(kOurs, name, [](const auto& each) { return each.first; });
    if (known == kOurs.end() || colon == std::string_view::npos) return std::string(line);
    const std::size_t begin = std::min(line.find_first_not_of(" \t", colon + 1), line.size());
    const auto number = number_in(line.substr(begin));
    if (!number) return std::string(line);
    return std::string(name) + ":\t" + std::to_string(numbers.of(known->second, *number));
  });
}

// --- of the network -----------------------------------------------------------------------------

/// Sockets of programs are the simulator's (sim/programs/net/sockets.h), which knows no such table.
std::string first_line_of(std::string_view text, Numbers& /*numbers*/) {
  return std::string(text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1));
}

/// `TCP: inuse 5 orphan 0`: words and numbers.
std::string counts_of(std::string_view text, Numbers& /*numbers*/) {
  return each_line(text, [](std::string_view line) {
    std::vector<std::string> words;
    for (const std::string_view word : split_at(line, ' '))
      words.emplace_back(number_in(word) ? "0" : word);
    return joined_with_blanks(words);
  });
}

// --- all of them --------------------------------------------------------------------------------

template <char... characters>
std::string fixed(std::string_view /*text*/, Numbers& /*numbers*/) {
  return {characters...};
}

std::string no_group_of(std::string_view /*text*/, Numbers& /*numbers*/) {
  return "0::/\n";
}
std::string first_session_of(std::string_view /*text*/, Numbers& /*numbers*/) {
  return "/autogroup-1 nice 0\n";
}
std::string no_time_of(std::string_view /*text*/, Numbers& /*numbers*/) {
  return "0 0 0\n";
}

struct Told {
  std::string_view name;  ///< of the file
  bool in_network;        ///< whether it is in a directory `net`
  std::string (*tell)(std::string_view text, Numbers& numbers);
};

constexpr std::array<Told, 23> kTold{{
    {"stat", false, stat_of},
    {"status", false, status_of},
    {"statm", false, statm_of},
    {"io", false, zeros_of},
    {"schedstat", false, no_time_of},
    {"sched", false, fixed<>},
    {"maps", false, maps_of},
    {"smaps", false, smaps_of},
    {"smaps_rollup", false, smaps_of},
    {"numa_maps", false, fixed<>},
    {"mountinfo", false, mountinfo_of},
    {"cgroup", false, no_group_of},
    {"cpuset", false, fixed<'/', '\n'>},
    {"autogroup", false, first_session_of},
    {"oom_score", false, fixed<'0', '\n'>},
    {"wchan", false, fixed<'0'>},
    {"stack", false, fixed<>},
    {"syscall", false, fixed<'r', 'u', 'n', 'n', 'i', 'n', 'g', '\n'>},
    {"unix", true, first_line_of},
    {"netlink", true, first_line_of},
    {"packet", true, first_line_of},
    {"sockstat", true, counts_of},
    {"sockstat6", true, counts_of},
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
  static constexpr Told kDescriptor{"fdinfo", false, descriptor_of};
  const auto [name, parent, grandparent] = last_names(path);
  if (parent == "fdinfo" && number_in(name)) return &kDescriptor;
  for (const Told& each : kTold) {
    // Below /proc itself there are files of the same name that tell of the machine.
    const bool there = each.in_network ? parent == "net" : number_in(parent).has_value();
    if (each.name == name && there) return &each;
  }
  return nullptr;
}

}  // namespace

bool is_told(std::string_view path) {
  return find_told(path) != nullptr;
}

bool differs(std::string_view path) {
  const auto [name, parent, grandparent] = last_names(path);
  const bool of_process = number_in(parent).has_value();
  return of_process && (name == "mounts" || name == "mountinfo" || name == "mountstats");
}

std::string told(std::string_view path, std::string text, Numbers& numbers, bool running) {
  const Told* const known = find_told(path);
  if (known == nullptr) return text;
  // Who reads has stopped for the simulator, and runs for all others.
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kStates{
      {{") t ", ") R "}, {"t (tracing stop)", "R (running)"}}};
  for (const auto& [stopped, runs] : kStates) {
    const std::size_t at = running ? text.find(stopped) : std::string::npos;
    if (at != std::string::npos) text.replace(at, stopped.size(), runs);
  }
  return known->tell(text, numbers);
}

std::optional<std::string> told_link(std::string_view target, Numbers& numbers) {
  const std::size_t bracket = target.find(":[");
  if (bracket == std::string_view::npos || !target.ends_with(']')) return std::nullopt;
  const std::string_view kind = target.substr(0, bracket);
  const auto number = number_in(target.substr(bracket + 2, target.size() - bracket - 3));
  if (!number || kind.find('/') != std::string_view::npos) return std::nullopt;
  const bool nameless = kind == "socket" || kind == "pipe";
  return std::string(kind) + ":[" +
         std::to_string(numbers.of(nameless ? Kind::kInode : Kind::kNamespace, *number)) + "]";
}

}  // namespace anyrdma::sim::programs
