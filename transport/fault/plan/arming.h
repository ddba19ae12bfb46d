// The state of one fault of a plan: counts the occurrences of its trigger, and decides when the
// fault happens.
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
  std::uint32_t planned = 1;  ///< how often it can happen; kAll: at each occurrence
  /// How often its trigger occurred, whether the fault happened or not.
  std::uint32_t armed = 0;
  std::uint32_t fired = 0;  ///< how often the fault was carried out
  /// How often that made a difference: there was a device to remove, for example, or a packet used
  /// the cut path.
  std::uint32_t observed = 0;
  /// For a random trigger: the occurrences at which the fault happened, counted from 1; at most
  /// kChosenMax.
  std::vector<std::uint32_t> chosen{};

  static constexpr std::size_t kChosenMax = 4096;

  /// Returns a line such as "planned 1, armed 3, fired 1, observed 0: on client->server REQ 3:
  /// lose".
  [[nodiscard]] std::string to_string() const;
};

/// Returns the occurrences at which a trigger fires.
[[nodiscard]] Occurrence occurrence_of(const Trigger& trigger);
/// Returns the trigger with another occurrence, if its kind has one.
[[nodiscard]] Trigger with_occurrence(Trigger trigger, Occurrence occurrence);

/// Counts the occurrences of a trigger.
class Arming {
 public:
  explicit Arming(const Fault& fault);

  /// Call for each occurrence of the trigger. True: the fault must happen now.
  [[nodiscard]] bool is_due();
  /// Whether the trigger is random. Then set `dice` before is_due().
  [[nodiscard]] bool needs_dice() const { return occurrence_.per_million != Occurrence::kCertain; }

  FaultStatus status;
  std::unique_ptr<verbs::Random> dice;

 private:
  Occurrence occurrence_;
};

}  // namespace anyrdma::fault
