#include "sim/debug/core/mappings.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>

namespace anyrdma::sim::debug {
namespace {

/// The head of a mapping: "55e0-55e4 r-xp 00001000 08:01 123   /usr/bin/rping".
bool take_head(const std::string& line, std::vector<Mapping>& all) {
  Mapping it;
  std::array<char, 5> rights{};
  int rest = 0;
  const int fields = std::sscanf(
      line.c_str(), "%" SCNx64 "-%" SCNx64 " %4[rwxps-] %" SCNx64 " %*x:%*x %" SCNu64 "%n",
      &it.begin, &it.end, rights.data(), &it.offset, &it.inode, &rest);
  if (fields != 5 || it.end <= it.begin || std::string_view(rights.data()).size() != 4)
    return false;
  const std::size_t path = line.find_first_not_of(' ', static_cast<std::size_t>(rest));
  if (path != std::string::npos) it.path = line.substr(path);
  it.readable = rights[0] == 'r';
  it.writable = rights[1] == 'w';
  it.executable = rights[2] == 'x';
  it.shared = rights[3] == 's';
  all.push_back(std::move(it));
  return true;
}

/// "Rss:    4 kB"
bool is_some(const std::string& line, const char* format) {
  std::uint64_t kilobytes = 0;
  return std::sscanf(line.c_str(), format, &kilobytes) == 1 && kilobytes != 0;
}

void take_detail(const std::string& line, Mapping& it) {
  it.touched |= is_some(line, "Rss: %" SCNu64) || is_some(line, "Swap: %" SCNu64);
  it.changed |= is_some(line, "Anonymous: %" SCNu64) || is_some(line, "Swap: %" SCNu64);
  if (!line.starts_with("VmFlags:")) return;
  for (const char* const flag : {" io", " pf", " dd"})
    it.omitted |= (line + " ").find(std::string(flag) + " ") != std::string::npos;
}

}  // namespace

std::vector<Mapping> parse_mappings(std::string_view smaps) {
  std::vector<Mapping> all;
  while (!smaps.empty()) {
    const std::size_t end = std::min(smaps.find('\n'), smaps.size());
    const std::string line(smaps.substr(0, end));
    smaps.remove_prefix(std::min(end + 1, smaps.size()));
    if (!take_head(line, all) && !all.empty()) take_detail(line, all.back());
  }
  return all;
}

Kept kept_of(const Mapping& mapping) {
  if (!mapping.readable || mapping.omitted) return Kept::kNothing;
  // The supervisor has replaced instructions in code of files: the file has those of the program.
  const bool is_code = mapping.executable && !mapping.writable && mapping.inode != 0;
  if (mapping.writable || mapping.shared || (mapping.changed && !is_code)) return Kept::kAll;
  return mapping.inode != 0 && mapping.offset == 0 ? Kept::kHeader : Kept::kNothing;
}

}  // namespace anyrdma::sim::debug
