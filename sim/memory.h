// How strong memory is in a world, and what its devices chose within that, as data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/schedule/random_stream.h"
#include "sim/schedule/schedule.h"
#include "verbs/soft/memory_profile.h"

namespace anyrdma::sim {

using verbs::soft::MemoryProfile;

/// See docs/memory.md.
struct Memory {
  MemoryProfile profile = MemoryProfile::kStrict;
  /// The choices that are not 0, by point. Nullopt: the world's seed decides.
  std::optional<std::vector<Deviation>> given{};
  bool operator==(const Memory&) const = default;
};

/// Makes the choices of a world's devices. Same seeds and memory, same choices.
class MemoryChoices final : public verbs::soft::MemoryChooser {
 public:
  /// `seeds`: of the run; they outlive it.
  MemoryChoices(Memory memory, const Seeds& seeds);
  [[nodiscard]] std::uint32_t choose(std::uint32_t count) override;
  [[nodiscard]] MemoryProfile profile() const { return memory_.profile; }
  [[nodiscard]] bool is_strict() const { return memory_.profile == MemoryProfile::kStrict; }
  /// All choices so far other than 0. A memory that is given them repeats the run.
  [[nodiscard]] const std::vector<Deviation>& made() const { return made_; }

 private:
  Memory memory_;
  RandomStream random_;
  std::uint64_t point_ = 0;
  std::size_t next_given_ = 0;
  std::vector<Deviation> made_;
};

}  // namespace anyrdma::sim
