#include "transport/fabric/switchboard.h"

#include <span>

#include "transport/ibcm/wire/mad_header.h"
#include "transport/ibcm/wire/req.h"
#include "transport/ibcm/wire/sidr_req.h"
#include "transport/soft/cma_header.h"
#include "verbs/soft/wire/headers.h"

namespace anyrdma::transport::fabric {
namespace {

using verbs::soft::Packet;
using wire::CommId;

constexpr std::size_t kMadAt = roce::Bth::kBytes + roce::Deth::kBytes;
// IBTA vol 1, 12.6: all connection messages start with these; REQ has no remote id, and the two of
// SIDR have the request id in the place of the local one.
constexpr wire::Field kLocalCommId{0, 0, 32};
constexpr wire::Field kRemoteCommId{4, 0, 32};

template <class Request>
Destination of_request(ibcm::wire::MadView mad, Registry& registry, CommId id) {
  Destination found{Audience::kUnclaimed, registry.slot(), id};
  const auto request = Request::parse(mad);
  if (!request) return found;
  const auto header = soft::CmaHeader::parse(request->private_data);
  if (!header) return found;
  const std::uint64_t service = wire::value(request->service_id);
  found.port = static_cast<std::uint16_t>(service);
  soft::Address destination = header->destination;
  destination.port = found.port;
  const auto space = static_cast<rdma_port_space>(service >> 16);
  if (const auto slot = registry.listener(space, destination)) {
    found.audience = Audience::kOne;
    found.slot = *slot;
  }
  return found;
}

Destination of_message(ibcm::wire::MadView mad, Registry& registry) {
  const Destination ourselves{Audience::kOne, registry.slot(), {}};
  const auto header = ibcm::wire::MadHeader::parse(mad);
  if (!header) return ourselves;
  const auto local = CommId{wire::get<kLocalCommId>(ibcm::wire::payload(mad))};
  switch (header->attribute) {
    case ibcm::wire::Attribute::kReq:
      return of_request<ibcm::wire::Req>(mad, registry, local);
    case ibcm::wire::Attribute::kSidrReq:
      return of_request<ibcm::wire::SidrReq>(mad, registry, {});
    case ibcm::wire::Attribute::kMra:
    case ibcm::wire::Attribute::kRej:
    case ibcm::wire::Attribute::kRep:
    case ibcm::wire::Attribute::kRtu:
    case ibcm::wire::Attribute::kDreq:
    case ibcm::wire::Attribute::kDrep:
    case ibcm::wire::Attribute::kLap:
    case ibcm::wire::Attribute::kApr: {
      const auto remote = CommId{wire::get<kRemoteCommId>(ibcm::wire::payload(mad))};
      if (remote == CommId{}) return {Audience::kEveryone, {}, {}};
      return {Audience::kOne, slot_of(remote), {}};
    }
    case ibcm::wire::Attribute::kSidrRep:
      // The request id is a local comm id of the process that asked.
      return {Audience::kOne, slot_of(local), {}};
  }
  return ourselves;
}

}  // namespace

Destination destination_of(const Packet& packet, Registry& registry) {
  const std::span<const std::uint8_t> bytes = packet.payload();
  if (bytes.size() < roce::Bth::kBytes) return {};
  const auto bth = roce::Bth::parse(bytes.first<roce::Bth::kBytes>());
  if (bth.destination == wire::kMulticastQpn) return {Audience::kEveryone, {}, {}};
  if (bth.destination != wire::kGsiQpn) return {Audience::kOne, slot_of(bth.destination), {}};
  if (bytes.size() < kMadAt + ibcm::wire::kMadSize) return {};
  return of_message(bytes.subspan<kMadAt, ibcm::wire::kMadSize>(), registry);
}

}  // namespace anyrdma::transport::fabric
