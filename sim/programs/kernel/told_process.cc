#include "sim/programs/kernel/told_process.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "base/number.h"
#include "sim/tracee/auxiliary_vector.h"

namespace anyrdma::sim::programs {
namespace told_text {
namespace {

using Kind = Numbers::Kind;

/// `text` is a number, from which `less` is taken.
std::string reduced(const std::string& text, std::int64_t less) {
  const auto number = whole_number<std::uint64_t>(text);
  if (!number || static_cast<std::int64_t>(*number) < less) return text;
  return std::to_string(static_cast<std::int64_t>(*number) - less);
}

/// The nice value, and the priority of a thread without a real-time policy, which follows from it.
void tell_nice(std::string& priority, std::string& nice, int of_command) {
  const auto as_number = [](const std::string& text) { return std::atoi(text.c_str()); };
  constexpr int kHighest = -20;
  constexpr int kLowest = 19;
  constexpr int kPriorities = 40;
  const int shown = std::clamp(as_number(nice) - of_command, kHighest, kLowest);
  if (const int now = as_number(priority); now >= 0 && now < kPriorities)
    priority = std::to_string(now + shown - as_number(nice));
  nice = std::to_string(shown);
}

/// Lines of /proc/PID/status of Linux 6.1: of the process and its memory ...
constexpr std::string_view kLinesOfStatus =
    " Name Umask State Tgid Ngid Pid PPid TracerPid Uid Gid FDSize Groups NStgid NSpid NSpgid "
    "NSsid VmPeak VmSize VmLck VmPin VmHWM VmRSS RssAnon RssFile RssShmem VmData VmStk VmExe ";
constexpr std::string_view kMoreLinesOfStatus =
    " VmLib VmPTE VmSwap HugetlbPages CoreDumping THP_enabled Threads SigQ SigPnd ShdPnd SigBlk "
    "SigIgn SigCgt CapInh CapPrm CapEff CapBnd CapAmb NoNewPrivs Seccomp Seccomp_filters ";
/// ... and of where it may run.
constexpr std::string_view kLastLinesOfStatus =
    " Speculation_Store_Bypass SpeculationIndirectBranch Cpus_allowed Cpus_allowed_list "
    "Mems_allowed Mems_allowed_list voluntary_ctxt_switches nonvoluntary_ctxt_switches ";

bool is_line_of_status(std::string_view name) {
  return has_name(kLinesOfStatus, name) || has_name(kMoreLinesOfStatus, name) ||
         has_name(kLastLinesOfStatus, name);
}

/// `VmSize:\t    1234 kB`.
std::string size_line(std::string_view line, std::string_view name, std::int64_t less) {
  constexpr std::int64_t kUnit = 1024;
  const std::size_t begin = line.find_first_of("0123456789");
  const std::size_t end = line.find(' ', std::min(begin, line.size()));
  if (begin == std::string_view::npos || end == std::string_view::npos) return std::string(line);
  std::string size = reduced(std::string(line.substr(begin, end - begin)), less / kUnit);
  constexpr std::size_t kWidth = 8;
  if (size.size() < kWidth) size.insert(0, kWidth - size.size(), ' ');
  return std::string(name) + ":\t" + size + " kB";
}

/// `7f00-7f01 r--p 00000000 00:2f 1234   /memfd:x (deleted)`: the device and inode of what is no
/// file of a disk.
std::string mapping_of(std::string_view line, const Context& context) {
  constexpr std::size_t kDevice = 3;
  constexpr std::size_t kInode = 4;
  std::vector<std::string> words;
  for (const std::string_view word : split_at(line, ' ')) words.emplace_back(word);
  const std::string& root = context.process.root;
  const auto path = std::ranges::find_if(words, [](const auto& each) { return each[0] == '/'; });
  if (!root.empty() && path != words.end() && path->starts_with(root + "/"))
    path->erase(0, root.size());
  if (words.size() <= kInode || !words[kDevice].starts_with("00:"))
    return joined_with_blanks(words);
  const auto inode = whole_number<std::uint64_t>(words[kInode]);
  if (!inode || *inode == 0) return joined_with_blanks(words);
  words[kDevice] = "00:01";
  words[kInode] = std::to_string(context.numbers.of(Kind::kInode, *inode));
  return joined_with_blanks(words);
}

/// Lines of /proc/PID/smaps and smaps_rollup of Linux 6.1.
constexpr std::string_view kLinesOfSmaps =
    " Size KernelPageSize MMUPageSize Rss Pss Pss_Dirty Pss_Anon Pss_File Pss_Shmem "
    "Shared_Clean Shared_Dirty Private_Clean Private_Dirty Referenced Anonymous LazyFree "
    "AnonHugePages ShmemPmdMapped FilePmdMapped Shared_Hugetlb Private_Hugetlb Swap SwapPss "
    "Locked THPeligible ProtectionKey VmFlags ";

/// `tfd:        5 events:       19 data:                5  pos:0 ino:80e sdev:d`, of an epoll: what
/// it waits for is on no disk.
std::string waited_for(std::string_view line, Numbers& numbers) {
  const std::size_t inode = line.find(" ino:");
  const std::size_t device = line.find(" sdev:");
  if (inode == std::string_view::npos || device == std::string_view::npos || device < inode)
    return std::string(line);
  const auto told_number = [&](std::size_t from, std::size_t end, Kind kind) {
    std::string_view hexadecimal = line.substr(from, end - from);
    const auto number = take_number<std::uint64_t>(hexadecimal, 16).value_or(0);
    std::array<char, 2 * sizeof number> digits{};
    const auto [last, error] =
        std::to_chars(digits.data(), digits.data() + digits.size(), numbers.of(kind, number), 16);
    return std::string(digits.data(), last);
  };
  constexpr std::size_t kNameOfInode = 5;
  constexpr std::size_t kNameOfDevice = 6;
  return std::string(line.substr(0, inode)) +
         " ino:" + told_number(inode + kNameOfInode, device, Kind::kInode) +
         " sdev:" + told_number(device + kNameOfDevice, line.size(), Kind::kDevice);
}

std::string told_limit(rlim_t limit) {
  return limit == RLIM_INFINITY ? "unlimited" : std::to_string(limit);
}

}  // namespace

/// Fields from the third on, as proc(5) counts them.
std::string stat_of(std::string_view text, const Context& context) {
  constexpr std::size_t kFirst = 3;
  struct Field {
    std::size_t number;
    const char* value;
  };
  constexpr std::array<Field, 21> kOurs{
      {{7, "0"},  {8, "-1"}, {9, "4194304"}, {10, "0"}, {11, "0"},      {12, "0"},    {13, "0"},
       {14, "0"}, {15, "0"}, {16, "0"},      {17, "0"}, {22, "100000"}, {24, "1024"}, {29, "0"},
       {30, "0"}, {35, "0"}, {36, "0"},      {37, "0"}, {42, "0"},      {43, "0"},    {44, "0"}}};
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
  constexpr std::size_t kPriority = 18 - kFirst;
  constexpr std::size_t kSize = 23 - kFirst;
  if (fields.size() > kSize) {
    tell_nice(fields[kPriority], fields[kPriority + 1], context.process.nice);
    fields[kSize] = reduced(fields[kSize], context.process.surplus);
  }
  constexpr std::size_t kProcessor = 39 - kFirst;
  if (fields.size() > kProcessor)
    fields[kProcessor] = std::to_string(first_of(context.process.processors));
  return std::string(text.substr(0, name_end + 2)) + joined_with_blanks(fields) + "\n";
}

std::string status_of(std::string_view text, const Context& context) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 18> kOurs{
      {{"VmHWM", "    4096 kB"},
       {"VmRSS", "    4096 kB"},
       {"RssAnon", "    2048 kB"},
       {"RssFile", "    2048 kB"},
       {"RssShmem", "       0 kB"},
       {"VmStk", "     132 kB"},
       {"VmPTE", "      64 kB"},
       {"VmSwap", "       0 kB"},
       {"HugetlbPages", "       0 kB"},
       {"TracerPid", "0"},
       {"SigQ", "0/32768"},
       {"Seccomp_filters", "1"},  // a container has others, and regions of memory have one
       {"Speculation_Store_Bypass", "not vulnerable"},
       {"SpeculationIndirectBranch", "not affected"},
       {"Mems_allowed", "1"},
       {"Mems_allowed_list", "0"},
       {"voluntary_ctxt_switches", "0"},
       {"nonvoluntary_ctxt_switches", "0"}}};
  return lines_of(text, [&](std::string_view line) -> std::optional<std::string> {
    const std::string_view name = line.substr(0, line.find(':'));
    if (!is_line_of_status(name)) return std::nullopt;
    const auto* const known =
        std::ranges::find(kOurs, name, [](const auto& each) { return each.first; });
    if (known != kOurs.end()) return std::string(name) + ":\t" + std::string(known->second);
    const ToldProcess& process = context.process;
    if (name == "Cpus_allowed")
      return "Cpus_allowed:\t" + mask_text(process.processors, process.of_host);
    if (name == "Cpus_allowed_list") return "Cpus_allowed_list:\t" + list_text(process.processors);
    if (name == "VmPeak" || name == "VmSize") return size_line(line, name, context.process.surplus);
    if (name == "State" && line.ends_with("(tracing stop)"))
      return std::string("State:\tS (sleeping)");
    return std::string(line);
  });
}

/// Pages: all of them, of which so many are there.
std::string statm_of(std::string_view text, const Context& context) {
  constexpr std::int64_t kPage = 4096;
  constexpr std::size_t kData = 5;
  std::vector<std::string> fields;
  for (const std::string_view field : split_at(text.substr(0, text.find('\n')), ' '))
    fields.emplace_back(field);
  if (fields.size() < 3) return std::string(text);
  fields[1] = "1024";
  fields[2] = "512";
  fields[0] = reduced(fields[0], context.process.surplus / kPage);
  if (fields.size() > kData)
    fields[kData] = reduced(fields[kData], context.process.stack_surplus / kPage);
  return joined_with_blanks(fields) + "\n";
}

/// `name: 17` becomes `name: 0`.
std::string zeros_of(std::string_view text, const Context& /*context*/) {
  return each_line(text, [](std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return std::string(line);
    return std::string(line.substr(0, colon)) + ": 0";
  });
}

std::string maps_of(std::string_view text, const Context& context) {
  return each_line(text, [&](std::string_view line) { return mapping_of(line, context); });
}

/// A line of maps(5), then how much of it is in memory.
std::string smaps_of(std::string_view text, const Context& context) {
  constexpr std::string_view kStay = " Size KernelPageSize MMUPageSize ";
  return lines_of(text, [&](std::string_view line) -> std::optional<std::string> {
    const std::string_view word = line.substr(0, line.find(' '));
    if (!word.ends_with(':')) return mapping_of(line, context);
    const std::string_view name = word.substr(0, word.size() - 1);
    if (!has_name(kLinesOfSmaps, name)) return std::nullopt;
    if (name == "THPeligible") return std::string(word) + " 0";
    if (has_name(kStay, name) || !line.ends_with(" kB")) return std::string(line);
    return std::string(word) + " 0 kB";
  });
}

/// `36 35 98:0 / /mnt rw master:1 - ext4 /dev/root rw`.
std::string mountinfo_of(std::string_view text, const Context& context) {
  return each_line(text, [&](std::string_view line) {
    std::vector<std::string> words;
    for (const std::string_view word : split_at(line, ' ')) words.emplace_back(word);
    if (words.size() < 3) return std::string(line);
    for (const std::size_t i : {0u, 1u}) {
      if (const auto number = whole_number<std::uint64_t>(words[i]))
        words[i] = std::to_string(context.numbers.of(Kind::kMount, *number));
    }
    if (words[2].starts_with("0:")) {
      if (const auto number = whole_number<std::uint64_t>(std::string_view(words[2]).substr(2)))
        words[2] = "0:" + std::to_string(context.numbers.of(Kind::kDevice, *number));
    }
    for (std::string& word : words) {
      for (const std::string_view kind : {"shared:", "master:", "propagate_from:"}) {
        if (word.starts_with(kind)) word = std::string(kind) + "1";
      }
    }
    return joined_with_blanks(words);
  });
}

std::string descriptor_of(std::string_view text, const Context& context) {
  constexpr std::array<std::pair<std::string_view, Kind>, 2> kOurs{
      {{"mnt_id", Kind::kMount}, {"ino", Kind::kInode}}};
  return lines_of(text, [&](std::string_view line) -> std::optional<std::string> {
    const std::size_t colon = line.find(':');
    const std::string_view name = line.substr(0, colon);
    if (name == "eventfd-semaphore") return std::nullopt;  // since Linux 6.5
    // The kernel gives it to another one later.
    if (name == "eventfd-id") return std::string("eventfd-id: 1");
    if (name == "tfd") return waited_for(line, context.numbers);
    const auto* const known =
        std::ranges::find(kOurs, name, [](const auto& each) { return each.first; });
    if (known == kOurs.end() || colon == std::string_view::npos) return std::string(line);
    const std::size_t begin = std::min(line.find_first_not_of(" \t", colon + 1), line.size());
    const auto number = whole_number<std::uint64_t>(line.substr(begin));
    if (!number) return std::string(line);
    return std::string(name) + ":\t" + std::to_string(context.numbers.of(known->second, *number));
  });
}

/// `Max processes             32768                32768                processes `: those of
/// limits.h.
std::string limits_of(std::string_view text, const Context& context) {
  constexpr std::size_t kName = 26;
  constexpr std::size_t kNumber = 21;
  return each_line(text, [&](std::string_view line) {
    const ToldProcess& process = context.process;
    const std::array<std::pair<std::string_view, const rlimit*>, 3> told{
        {{"Max processes ", &process.processes},
         {"Max pending signals ", &process.signals},
         {"Max msgqueue size ", &process.queues}}};
    const auto* const found =
        std::ranges::find_if(told, [&](const auto& each) { return line.starts_with(each.first); });
    if (found == told.end() || line.size() < kName + 2 * kNumber) return std::string(line);
    const rlimit& limit = *found->second;
    std::string changed(line.substr(0, kName));
    for (const rlim_t each : {limit.rlim_cur, limit.rlim_max}) {
      changed += told_limit(each);
      changed.resize(changed.size() + kNumber - std::min(kNumber, told_limit(each).size()), ' ');
    }
    return changed + std::string(line.substr(kName + 2 * kNumber));
  });
}

std::string vector_of(std::string_view text, const Context& /*context*/) {
  return tracee::tamed(std::string(text));
}

}  // namespace told_text

void measure_surplus(std::string_view maps, ToldProcess& process) {
  constexpr std::int64_t kUsualStack = 132 << 10;
  constexpr std::int64_t kUsualPages = 24 << 10;  // of vvar and vdso
  constexpr int kHexadecimal = 16;
  std::int64_t stack = 0;
  std::int64_t pages = 0;
  for (const std::string_view line : told_text::split_at(maps, '\n')) {
    const bool of_stack = line.ends_with("[stack]");
    const bool of_kernel = line.ends_with("[vdso]") || line.find("[vvar") != std::string_view::npos;
    if (!of_stack && !of_kernel) continue;
    std::string_view addresses = line;
    const auto begin = take_number<std::uint64_t>(addresses, kHexadecimal);
    addresses.remove_prefix(std::min<std::size_t>(addresses.size(), 1));  // '-'
    const auto end = take_number<std::uint64_t>(addresses, kHexadecimal);
    if (!begin || !end) continue;
    (of_stack ? stack : pages) += static_cast<std::int64_t>(*end - *begin);
  }
  process.stack_surplus = stack == 0 ? 0 : stack - kUsualStack;
  process.surplus = process.stack_surplus + (pages == 0 ? 0 : pages - kUsualPages);
}

}  // namespace anyrdma::sim::programs
