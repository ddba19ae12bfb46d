#include "sim/debug/cluster/patches.h"

#include <algorithm>

namespace anyrdma::sim::debug {
namespace {

constexpr std::byte kTrap{0xcc};

bool put(const tracee::Tracee& thread, std::uint64_t address, std::byte byte) {
  return thread.write_any(address, {&byte, 1});
}

std::optional<std::byte> byte_at(const tracee::Tracee& thread, std::uint64_t address) {
  std::byte byte{};
  if (!thread.read_any(address, {&byte, 1})) return std::nullopt;
  return byte;
}

}  // namespace

void Patches::sync(const tracee::Tracee& thread, const std::set<std::uint64_t>& wanted) {
  for (auto each = saved_.begin(); each != saved_.end();) {
    const bool stays = wanted.contains(each->first);
    const auto now = byte_at(thread, each->first);
    // Somebody may have mapped other code there.
    if (!stays && now == kTrap) (void)put(thread, each->first, each->second);
    each = stays && now == kTrap ? std::next(each) : saved_.erase(each);
  }
  for (const std::uint64_t address : wanted) {
    if (saved_.contains(address)) continue;
    const auto before = byte_at(thread, address);
    if (before && put(thread, address, kTrap)) saved_.emplace(address, *before);
  }
}

void Patches::lift(const tracee::Tracee& thread, std::uint64_t address) const {
  (void)put(thread, address, saved_.at(address));
}

void Patches::put_back(const tracee::Tracee& thread, std::uint64_t address) const {
  (void)put(thread, address, kTrap);
}

void Patches::hide(std::uint64_t address, std::span<std::byte> bytes) const {
  for (auto each = saved_.lower_bound(address);
       each != saved_.end() && each->first - address < bytes.size(); ++each)
    bytes[each->first - address] = each->second;
}

bool Patches::write(const tracee::Tracee& thread, std::uint64_t address,
                    std::span<const std::byte> bytes) {
  if (!thread.write_any(address, bytes)) return false;
  for (auto each = saved_.lower_bound(address);
       each != saved_.end() && each->first - address < bytes.size(); ++each) {
    each->second = bytes[each->first - address];
    put_back(thread, each->first);
  }
  return true;
}

void Patches::remove_from_copy(const tracee::Tracee& thread) const {
  for (const auto& [address, byte] : saved_) {
    if (byte_at(thread, address) == kTrap) (void)put(thread, address, byte);
  }
}

std::optional<DebugRegisters> debug_registers(const std::set<Point>& points) {
  constexpr std::uint64_t kLongest = 8;
  constexpr unsigned kConditionsAt = 16;
  constexpr unsigned kConditionBits = 4;
  constexpr std::uint64_t kWrites = 1;
  constexpr std::uint64_t kReadsAndWrites = 3;
  DebugRegisters registers;
  unsigned used = 0;
  for (const Point& point : points) {
    // Each register watches 1, 2, 4 or 8 aligned bytes.
    for (std::uint64_t at = point.address, left = point.size; left != 0; ++used) {
      if (used == registers.addresses.size()) return std::nullopt;
      std::uint64_t bytes = kLongest;
      while (at % bytes != 0 || bytes > left) bytes /= 2;
      const std::uint64_t length = bytes == kLongest ? 2 : bytes - 1;
      const std::uint64_t access = point.kind == Point::Kind::kAccess ? kReadsAndWrites : kWrites;
      registers.addresses[used] = at;
      registers.points[used] = point;
      registers.control |= std::uint64_t{1} << 2 * used;
      registers.control |= (length << 2 | access) << (kConditionsAt + kConditionBits * used);
      at += bytes;
      left -= bytes;
    }
  }
  return registers;
}

}  // namespace anyrdma::sim::debug
