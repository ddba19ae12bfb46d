// The memory guarantees of a device, and the interface that chooses its behaviour within them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace anyrdma::verbs::soft {

/// The memory ordering of a device, from strong to weak: see docs/memory.md.
enum class MemoryProfile : std::uint8_t {
  kStrict,  ///< every effect takes place at once and in order: stronger than any real device
  kSpec,    ///< all that the specification allows in a region without special flags
  /// Like kSpec, and accesses to regions with IBV_ACCESS_RELAXED_ORDERING are not ordered.
  kRelaxed,
  kUnordered,  ///< accesses to no region are ordered, and a READ may overtake a WRITE
};

inline constexpr std::array<std::string_view, 4> kMemoryProfiles = {"strict", "spec", "relaxed",
                                                                    "unordered"};

[[nodiscard]] constexpr std::string_view to_string(MemoryProfile profile) {
  return kMemoryProfiles[static_cast<std::size_t>(profile)];
}
/// Returns the profile of this name; nullopt: there is none.
[[nodiscard]] constexpr std::optional<MemoryProfile> memory_profile_of(std::string_view name) {
  for (std::size_t i = 0; i < kMemoryProfiles.size(); ++i)
    if (kMemoryProfiles[i] == name) return static_cast<MemoryProfile>(i);
  return std::nullopt;
}

/// Chooses when an accepted operation of a device takes effect in memory. The simulator's schedule
/// implements it.
class MemoryChooser {
 public:
  virtual ~MemoryChooser() = default;
  /// Returns a number from 0 to `count` - 1; `count` is at least 2. 0 stands for the behaviour of a
  /// strict device. Inside the critical section.
  [[nodiscard]] virtual std::uint32_t choose(std::uint32_t count) = 0;
};

}  // namespace anyrdma::verbs::soft
