// Counts the occurrences of a fault's trigger during a run, and decides at which of them the fault
// happens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transport/fault/plan/fault.h"
#include "verbs/random.h"

namespace anyrdma::fault {

/// A fault of a plan, with its counts.
struct FaultStatus {
  Fault fault;
  std::uint32_t planned = 1;  ///< how often the fault can happen; kAll: at each occurrence

  /// How often the trigger occurred, whether the fault happened or not.
  std::uint32_t armed = 0;
  std::uint32_t fired = 0;  ///< how often the fault was carried out

  /// How often the fault made a difference. It makes no difference if there is no device to remove,
  /// for example, or if no packet uses a path that was cut.
  std::uint32_t observed = 0;
  /// For a random trigger: the occurrences at which the fault happened, counted from 1. At most
  /// kChosenMax are kept.
  std::vector<std::uint32_t> chosen{};

  static constexpr std::size_t kChosenMax = 4096;

  /// Returns the counts as a line such as "planned 1, armed 3, fired 1, observed 0: on
  /// client->server REQ 3: lose".
  [[nodiscard]] std::string to_string() const;
};

/// Returns the occurrences at which a trigger fires: the n-th, all, or each with a probability.
[[nodiscard]] Occurrence occurrence_of(const Trigger& trigger);
/// Returns a copy of the trigger with another occurrence. A trigger at a time has none and is
/// returned unchanged.
[[nodiscard]] Trigger with_occurrence(Trigger trigger, Occurrence occurrence);

/// Counts the occurrences of a trigger.
class Arming {
 public:
  explicit Arming(const Fault& fault);

  /// Call for each occurrence of the trigger. True: the fault must happen at this occurrence.
  [[nodiscard]] bool is_due();
  /// Whether the trigger fires at random. Then `dice` must be set before the first is_due().
  [[nodiscard]] bool needs_dice() const { return occurrence_.per_million != Occurrence::kCertain; }

  FaultStatus status;
  std::unique_ptr<verbs::Random> dice;

 private:
  Occurrence occurrence_;
};

}  // namespace anyrdma::fault
