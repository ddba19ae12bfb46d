#include "transport/fault/plan/fault.h"

namespace anyrdma::fault {

Trigger::Trigger() = default;
Trigger::Trigger(const Trigger& other) = default;
Trigger::Trigger(Trigger&& other) noexcept = default;
Trigger& Trigger::operator=(const Trigger& other) = default;
Trigger& Trigger::operator=(Trigger&& other) noexcept = default;
Trigger::~Trigger() = default;

bool Trigger::operator==(const Trigger& other) const {
  return static_cast<const TriggerKinds&>(*this) == static_cast<const TriggerKinds&>(other);
}

FaultAction::FaultAction() = default;
FaultAction::FaultAction(const FaultAction& other) = default;
FaultAction::FaultAction(FaultAction&& other) noexcept = default;
FaultAction& FaultAction::operator=(const FaultAction& other) = default;
FaultAction& FaultAction::operator=(FaultAction&& other) noexcept = default;
FaultAction::~FaultAction() = default;

bool FaultAction::operator==(const FaultAction& other) const {
  return static_cast<const ActionKinds&>(*this) == static_cast<const ActionKinds&>(other);
}

std::string_view FaultAction::kind() const {
  return std::visit([]<class Part>(const Part&) { return Part::kKind; }, *this);
}

std::span<const std::uint8_t> FaultAction::private_data() const {
  const auto* const reject = std::get_if<RejectRequest>(this);
  if (reject == nullptr) return {};
  return reject->data;
}

}  // namespace anyrdma::fault
