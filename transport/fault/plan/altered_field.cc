#include "transport/fault/plan/altered_field.h"

#include <variant>

#include "transport/fault/plan/scalars.h"
#include "transport/ibcm/wire/field_table.h"
#include "verbs/assert.h"

namespace anyrdma::fault {

using ibcm::wire::Attribute;
using ibcm::wire::find_field;

std::string problem_with_field(CmMessage message, const AlterMessage& alter) {
  const auto field = find_field(static_cast<Attribute>(message), alter.field.name);
  if (!field) {
    return "a " + std::string(to_string(message)) + " has no field " + in_quotes(alter.field.name);
  }
  if (field->width < 64 && alter.value >> field->width != 0) {
    return in_quotes(alter.field.name) + " has " + std::to_string(field->width) + " bits";
  }
  return {};
}

std::string problem_with_field(const Fault& fault) {
  const auto* alter = std::get_if<AlterMessage>(&fault.action);
  const auto* message = std::get_if<OnMessage>(&fault.trigger);
  if (alter == nullptr || message == nullptr) return {};
  return problem_with_field(message->message, *alter);
}

void alter(ibcm::wire::MadBuffer mad, std::uint16_t attribute, const AlterMessage& alter) {
  const auto field = find_field(static_cast<Attribute>(attribute), alter.field.name);
  CM_ASSERT(field.has_value());
  ibcm::wire::put_field(mad, *field, alter.value);
}

}  // namespace anyrdma::fault
