#include "sim/altered_message.h"

#include "transport/fault/plan/scalars.h"
#include "transport/ibcm/wire/field_table.h"
#include "verbs/assert.h"
#include "verbs/soft/wire/headers.h"

namespace anyrdma::sim {
namespace {

using ibcm::wire::Attribute;
using ibcm::wire::find_field;

/// Where the datagram to QP1 begins in its packet.
const std::size_t kMadAt = roce::offset_of(roce::kUdSendOnly, roce::kDeth) + roce::Deth::kBytes;

}  // namespace

std::string problem_with_field(CmMessage message, const AlterMessage& alter) {
  const auto field = find_field(static_cast<Attribute>(message), alter.field.name);
  if (!field) {
    return "a " + std::string(fault::to_string(message)) + " has no field " +
           fault::in_quotes(alter.field.name);
  }
  if (field->width < 64 && alter.value >> field->width != 0) {
    return fault::in_quotes(alter.field.name) + " has " + std::to_string(field->width) + " bits";
  }
  return {};
}

// Nothing on its way has damaged it: whoever checks it finds it whole.
void alter(verbs::soft::Packet& packet, std::uint16_t attribute, const AlterMessage& alter) {
  const auto field = find_field(static_cast<Attribute>(attribute), alter.field.name);
  CM_ASSERT(field.has_value());
  packet.keep_payload();
  packet.icrc_valid = false;
  const ibcm::wire::MadBuffer mad(packet.storage.data() + kMadAt, ibcm::wire::kMadSize);
  ibcm::wire::put_field(mad, *field, alter.value);
}

}  // namespace anyrdma::sim
