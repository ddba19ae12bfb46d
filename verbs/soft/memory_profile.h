// The memory guarantees of a device, and the interface that chooses how the device behaves within
// them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace anyrdma::verbs::soft {

/// The memory ordering of a device, from strong to weak (docs/memory.md).
enum class MemoryProfile : std::uint8_t {
  kStrict,  ///< Every effect is applied at once and in order. No real device guarantees that much.
  kSpec,    ///< all that the specification allows in a region without special flags

  /// Like kSpec, but accesses to regions with IBV_ACCESS_RELAXED_ORDERING are not ordered.
  kRelaxed,
  kUnordered,  ///< Accesses to all regions are not ordered, and a READ may overtake a WRITE.
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

/// Chooses when an operation that a device has accepted takes effect in memory. In the simulator,
/// the seed or the trial decides the choices.
class MemoryChooser {
 public:
  virtual ~MemoryChooser() = default;
  /// Returns a number from 0 to `count` - 1, where `count` is at least 2. The number 0 selects the
  /// behaviour of a strict device. Called inside the runtime's critical section.
  [[nodiscard]] virtual std::uint32_t choose(std::uint32_t count) = 0;
};

}  // namespace anyrdma::verbs::soft
