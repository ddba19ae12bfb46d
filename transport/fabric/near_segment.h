// What one member of a fabric shows the others in shared memory: who may do what in its memory, and
// that memory's pages. One sealed memfd per member: these tables, then pages.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transport/fabric/slot.h"
#include "verbs/soft/near_memory.h"

namespace anyrdma::transport::fabric {

inline constexpr std::size_t kNearPage = 4096;

/// Whole pages of a region that are pages of the segment. Addresses are the owner's.
struct NearRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t at = 0;  ///< where `begin` is in the segment
};
inline constexpr std::size_t kNearRanges = 6;

/// The rest of a record is there only while its version is even and not 0. The owner changes it
/// once nobody uses the segment who might have seen the even one: readers make their mark first.
struct NearEndRecord {
  std::atomic<std::uint64_t> version;
  verbs::soft::NearMemory::End end;
};
struct NearRegionRecord {
  std::atomic<std::uint64_t> version;
  verbs::soft::NearMemory::Region region;
  std::uint32_t ranges_used;
  std::array<NearRange, kNearRanges> ranges;  ///< ascending; what lies between them is private
};

/// Written by the member of that slot, read by the segment's owner. Odd: in the middle of using the
/// segment. Every use has numbers of its own, across incarnations too.
struct alignas(64) NearMark {
  std::atomic<std::uint64_t> use;
};

/// Records of regions by index of their key; those beyond are served by packets alone.
inline constexpr std::uint32_t kNearRegions = 1u << 16;
inline constexpr std::uint32_t kNearEnds = kQpnCount;

// The padding keeps pages apart that different processes write to.
struct NearSegment {  // NOLINT(clang-analyzer-optin.performance.Padding)
  std::atomic<std::uint64_t> magic;  ///< written last
  std::uint64_t incarnation;
  std::atomic<std::uint32_t> open;  ///< 0: nothing is allowed now
  // --- written by the others, from here ...
  alignas(kNearPage) std::array<std::atomic<std::uint64_t>, kSlotCount / 64> users;  ///< by slot
  std::array<NearMark, kSlotCount> marks;
  // --- ... to here
  alignas(kNearPage) std::array<NearEndRecord, kNearEnds> ends;  ///< by QPN
  alignas(kNearPage) std::array<NearRegionRecord, kNearRegions> regions;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(sizeof(NearSegment) % kNearPage == 0);

/// Says what the segment looks like: another number means another version.
inline constexpr std::uint64_t kNearMagic = 0x616e'796e'6561'7201 ^ (sizeof(NearSegment) << 8);

}  // namespace anyrdma::transport::fabric
