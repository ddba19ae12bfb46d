// An armed fault: it waits for its trigger, and counts what came of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transport/fault/plan/fault.h"
#include "verbs/random.h"

namespace anyrdma::fault {

/// A fault and what became of it.
struct FaultStatus {
  Fault fault;
  std::uint32_t planned = 1;   ///< how often it can fire; kAll: as often as it happens
  std::uint32_t armed = 0;     ///< how often what its trigger watches for happened, due or not
  std::uint32_t fired = 0;     ///< how often it was carried out
  std::uint32_t observed = 0;  ///< how often that made a difference: there was a device to remove,
                               ///< a packet met the path that was cut
  /// For a random trigger: the numbers among `armed`, from 1, that fired; at most kChosenMax.
  std::vector<std::uint32_t> chosen{};

  static constexpr std::size_t kChosenMax = 4096;

  /// "planned 1, armed 3, fired 1, observed 0: on client->server REQ 3: lose".
  [[nodiscard]] std::string to_string() const;
};

/// The occurrences that a trigger selects.
[[nodiscard]] Occurrence occurrence_of(const Trigger& trigger);
/// The trigger with another occurrence, if it counts occurrences.
[[nodiscard]] Trigger with_occurrence(Trigger trigger, Occurrence occurrence);

/// Counts what a trigger watches for.
class Arming {
 public:
  explicit Arming(const Fault& fault);

  /// Something happened that the trigger watches for. True: this is the one.
  [[nodiscard]] bool is_due();
  /// The trigger is random, so is_due() needs `dice`.
  [[nodiscard]] bool needs_dice() const { return occurrence_.per_million != Occurrence::kCertain; }

  FaultStatus status;
  std::unique_ptr<verbs::Random> dice;

 private:
  Occurrence occurrence_;
};

}  // namespace anyrdma::fault
