#include "sim/altered_message.h"

#include "transport/fault/plan/altered_field.h"
#include "verbs/soft/wire/headers.h"

namespace anyrdma::sim {
namespace {

/// Where the datagram to QP1 begins in its packet.
const std::size_t kMadAt = roce::offset_of(roce::kUdSendOnly, roce::kDeth) + roce::Deth::kBytes;

}  // namespace

// Nothing on its way has damaged it: whoever checks it finds it whole.
void alter(verbs::soft::Packet& packet, std::uint16_t attribute, const AlterMessage& alter) {
  packet.keep_payload();
  packet.icrc_valid = false;
  const ibcm::wire::MadBuffer mad(packet.storage.data() + kMadAt, ibcm::wire::kMadSize);
  fault::alter(mad, attribute, alter);
}

}  // namespace anyrdma::sim
