#include "transport/fault/plan/arming.h"

#include <variant>

namespace anyrdma::fault {

Occurrence occurrence_of(const Trigger& trigger) {
  return std::visit(
      [](const auto& when) {
        if constexpr (requires { when.occurrence; }) {
          return when.occurrence;
        } else {
          return Occurrence();
        }
      },
      trigger);
}

Trigger with_occurrence(Trigger trigger, Occurrence occurrence) {
  std::visit(
      [&](auto& when) {
        if constexpr (requires { when.occurrence; }) when.occurrence = occurrence;
      },
      trigger);
  return trigger;
}

std::string FaultStatus::to_string() const {
  const std::string times = planned == kAll ? "all" : std::to_string(planned);
  return "planned " + times + ", armed " + std::to_string(armed) + ", fired " +
         std::to_string(fired) + ", observed " + std::to_string(observed) + ": " +
         fault::to_string(fault);
}

Arming::Arming(const Fault& fault)
    : status{.fault = fault}, occurrence_(occurrence_of(fault.trigger)) {
  status.planned = occurrence_.number == kAll ? kAll : 1;
}

bool Arming::is_due() {
  ++status.armed;
  if (occurrence_.number != kAll) return occurrence_.number == status.armed;
  if (dice == nullptr) return true;
  if (dice->below(Occurrence::kCertain) >= occurrence_.per_million) return false;
  if (status.chosen.size() < FaultStatus::kChosenMax) status.chosen.push_back(status.armed);
  return true;
}

}  // namespace anyrdma::fault
