// Memory regions of a process that are registered, and what the process does with their pages.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "verbs/lost_memory.h"

namespace anyrdma::sim {

/// The addresses [begin, end).
struct Span {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Returns the pages of a range of addresses. `begin` is that of a page. Empty if the range does
/// not fit into the address space.
[[nodiscard]] Span pages_at(std::uint64_t begin, std::uint64_t bytes);

/// A part of the address space of a process.
struct Mapping {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  /// Of a mapping with MAP_SHARED: its device, inode and the offset of `begin`, by which the same
  /// pages are recognized when they are mapped again. Empty: no other mapping has these pages.
  std::string file{};
  std::uint64_t offset = 0;
  bool is_heap = false;  ///< that brk(2) has made
};

/// Returns the mappings of a process that overlap [begin, end), cut to it, in their order. Empty if
/// the process has gone. Source: proc_pid_maps(5).
[[nodiscard]] std::vector<Mapping> mappings_of(pid_t process, std::uint64_t begin,
                                               std::uint64_t end);

/// The registered regions of one process. Not for several threads at once.
class RegionWatch {
 public:
  /// Called with the id of a region, and what has become of it.
  using OnChange = std::function<void(std::uint64_t id, const verbs::LostMemory&)>;

  /// `id` is the caller's. A region that has it already is replaced.
  void watch(std::uint64_t id, std::uint64_t begin, std::uint64_t end);
  void forget(std::uint64_t id);
  void clear() { regions_.clear(); }
  [[nodiscard]] bool empty() const { return regions_.empty(); }
  /// Whether a region overlaps [begin, end).
  [[nodiscard]] bool touches(std::uint64_t begin, std::uint64_t end) const;
  /// Whether pages of a region that were lost could be mapped again.
  [[nodiscard]] bool may_regain() const;

  /// A call has taken [part.begin, part.end) away. `before`: what was mapped there.
  void lose(const verbs::LostMemory::Part& part, const std::vector<Mapping>& before,
            const OnChange& on_change);
  /// Pages were mapped. Parts of regions that have their own pages again are no longer lost.
  void regain(const std::vector<Mapping>& now, const OnChange& on_change);

 private:
  struct Region {
    std::uint64_t id = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    verbs::LostMemory lost{};
    std::array<Mapping, verbs::LostMemory::kPartsMost> had{};  ///< what the parts were
  };

  static bool take(Region& region, const verbs::LostMemory::Part& part, const Mapping& had);

  std::vector<Region> regions_;
};

}  // namespace anyrdma::sim
