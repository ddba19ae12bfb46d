#include "sim/regions/region_watch.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <limits>
#include <utility>

namespace anyrdma::sim {

Span pages_at(std::uint64_t begin, std::uint64_t bytes) {
  constexpr std::uint64_t kPage = 4096;
  const std::uint64_t end = begin + bytes;
  if (end < begin || end > std::numeric_limits<std::uint64_t>::max() - kPage) return {begin, begin};
  return {begin, (end + kPage - 1) & ~(kPage - 1)};
}

std::vector<Mapping> mappings_of(pid_t process, std::uint64_t begin, std::uint64_t end) {
  std::vector<Mapping> found;
  std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    Mapping each;
    std::uint64_t offset = 0;
    std::array<char, 5> rights{};
    std::array<char, 16> device{};
    std::array<char, 24> inode{};
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %15s %23s", &each.begin,
                    &each.end, rights.data(), &offset, device.data(), inode.data()) != 6)
      continue;
    if (each.begin >= end || each.end <= begin) continue;
    const std::uint64_t from = std::max(each.begin, begin);
    each.offset = offset + (from - each.begin);
    each.begin = from;
    each.end = std::min(each.end, end);
    each.is_heap = line.ends_with("[heap]");
    if (rights[3] == 's') (((each.file = device.data()) += ' ') += inode.data());
    found.push_back(std::move(each));
  }
  return found;
}

void RegionWatch::watch(std::uint64_t id, std::uint64_t begin, std::uint64_t end) {
  forget(id);
  regions_.push_back({.id = id, .begin = begin, .end = end});
}

void RegionWatch::forget(std::uint64_t id) {
  std::erase_if(regions_, [id](const Region& each) { return each.id == id; });
}

bool RegionWatch::touches(std::uint64_t begin, std::uint64_t end) const {
  return std::ranges::any_of(
      regions_, [&](const Region& each) { return each.begin < end && begin < each.end; });
}

bool RegionWatch::may_regain() const {
  return std::ranges::any_of(regions_, [](const Region& each) {
    return std::any_of(each.had.begin(), each.had.begin() + each.lost.count,
                       [](const Mapping& had) { return !had.file.empty(); });
  });
}

bool RegionWatch::take(Region& region, const verbs::LostMemory::Part& part, const Mapping& had) {
  verbs::LostMemory& lost = region.lost;
  verbs::LostMemory::Part own = part;
  own.begin = std::max({part.begin, had.begin, region.begin});
  own.end = std::min({part.end, had.end, region.end});
  if (own.begin >= own.end || lost.count == verbs::LostMemory::kPartsMost) return false;
  for (std::uint32_t i = 0; i < lost.count; ++i) {
    if (lost.parts[i].begin <= own.begin && own.end <= lost.parts[i].end) return false;
  }
  Mapping mine = had;
  mine.offset += own.begin - had.begin;
  mine.begin = own.begin;
  mine.end = own.end;
  region.had[lost.count] = std::move(mine);
  lost.add(own);
  return true;
}

void RegionWatch::lose(const verbs::LostMemory::Part& part, const std::vector<Mapping>& before,
                       const OnChange& on_change) {
  for (Region& region : regions_) {
    bool changed = false;
    for (const Mapping& had : before) changed = take(region, part, had) || changed;
    if (changed) on_change(region.id, region.lost);
  }
}

void RegionWatch::regain(const std::vector<Mapping>& now, const OnChange& on_change) {
  const auto is_back = [&](const Mapping& had) {
    return !had.file.empty() && std::ranges::any_of(now, [&](const Mapping& each) {
      return each.file == had.file && each.begin <= had.begin && had.end <= each.end &&
             each.offset + (had.begin - each.begin) == had.offset;
    });
  };
  for (Region& region : regions_) {
    verbs::LostMemory& lost = region.lost;
    const std::uint32_t had = lost.count;
    std::uint32_t left = 0;
    for (std::uint32_t i = 0; i < had; ++i) {
      if (is_back(region.had[i])) continue;
      lost.parts[left] = lost.parts[i];
      if (left != i) region.had[left] = std::move(region.had[i]);
      ++left;
    }
    lost.count = left;
    if (left != had) on_change(region.id, lost);
  }
}

}  // namespace anyrdma::sim
