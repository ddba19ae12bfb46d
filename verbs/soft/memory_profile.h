// The memory guarantees of a device, and the interface that chooses its behaviour within them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace anyrdma::verbs::soft {

/// See docs/memory.md.
enum class MemoryProfile : std::uint8_t {
  kStrict,     ///< every effect at once, in order: stronger than any real device
  kSpec,       ///< what the specification allows in a region without special flags
  kRelaxed,    ///< and regions with IBV_ACCESS_RELAXED_ORDERING are not ordered
  kUnordered,  ///< no region is ordered, and a READ may pass a WRITE
};

inline constexpr std::array<std::string_view, 4> kMemoryProfiles = {"strict", "spec", "relaxed",
                                                                    "unordered"};

[[nodiscard]] constexpr std::string_view to_string(MemoryProfile profile) {
  return kMemoryProfiles[static_cast<std::size_t>(profile)];
}
/// Nullopt: there is no such profile.
[[nodiscard]] constexpr std::optional<MemoryProfile> memory_profile_of(std::string_view name) {
  for (std::size_t i = 0; i < kMemoryProfiles.size(); ++i)
    if (kMemoryProfiles[i] == name) return static_cast<MemoryProfile>(i);
  return std::nullopt;
}

/// Decides when an accepted operation of a device takes effect in memory.
class MemoryChooser {
 public:
  virtual ~MemoryChooser() = default;
  /// A number below `count`, which is at least 2. 0 is what a strict device does. Inside the
  /// critical section.
  [[nodiscard]] virtual std::uint32_t choose(std::uint32_t count) = 0;
};

}  // namespace anyrdma::verbs::soft
