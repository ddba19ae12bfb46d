// The order in which RDMA devices make data visible in memory, and the choices that the devices of
// a run have made within it, as data.
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
  /// The choices other than 0, ordered by point (the number of the choice in the run). nullopt: the
  /// world's seed decides.
  std::optional<std::vector<Deviation>> given{};
  bool operator==(const Memory&) const = default;
};

/// Chooses in which order a world's devices make data visible in memory. The same seeds and options
/// lead to the same choices.
class MemoryChoices final : public verbs::soft::MemoryChooser {
 public:
  /// `seeds`: of the run; they outlive it.
  MemoryChoices(Memory memory, const Seeds& seeds);
  [[nodiscard]] std::uint32_t choose(std::uint32_t count) override;
  [[nodiscard]] MemoryProfile profile() const { return memory_.profile; }
  [[nodiscard]] bool is_strict() const { return memory_.profile == MemoryProfile::kStrict; }
  /// Returns all choices so far other than 0. A run with these in Memory::given makes the same
  /// choices.
  [[nodiscard]] const std::vector<Deviation>& made() const { return made_; }

 private:
  Memory memory_;
  RandomStream random_;
  std::uint64_t point_ = 0;
  std::size_t next_given_ = 0;
  std::vector<Deviation> made_;
};

}  // namespace anyrdma::sim
