#include "transport/soft/request.h"

#include <string>

#include "transport/soft/endpoint.h"

namespace anyrdma::transport::soft {
namespace {

// Transport service types of a REQ.
constexpr std::uint8_t kReliable = 0;
constexpr std::uint8_t kUnreliable = 1;

class RequestCategory final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "cma-request"; }
  std::string message(int value) const override {
    switch (static_cast<RequestErrc>(value)) {
      case RequestErrc::kNoListener:
        return "no listener at that address";
      case RequestErrc::kBadAddress:
        return "a source address that no peer can have";
      case RequestErrc::kNotOurs:
        return "the destination address is not on that interface";
      case RequestErrc::kNoRouteBack:
        return "no route back through that interface";
      case RequestErrc::kServiceType:
        return "the listener is for another QP type";
    }
    return "unknown request error";
  }
};

void add_scope(Address& address, const Device& device) {
  if (address.is_link_local()) address.scope = static_cast<std::uint32_t>(device.interface);
}

/// Linux refuses loopback addresses in the header; from this very host they are welcome here.
verbs::Result<void> check_addresses(const Core& core, const Device& device, const CmaHeader& header,
                                    bool same_host) {
  const Address& local = header.destination;
  const Address& peer = header.source;
  if (local.is_multicast() || peer.is_multicast()) return RequestErrc::kBadAddress;
  if ((core.means_self(local) || core.means_self(peer)) && !same_host)
    return RequestErrc::kBadAddress;
  if (!core.means_self(local)) {
    const verbs::Result<int> interface = core.network.interface_of(local);
    if (!interface || *interface != device.interface) return RequestErrc::kNotOurs;
  }
  if (same_host) return {};
  const verbs::Result<Route> back = core.network.route(&local, peer);
  if (!back || back->interface != device.interface) return RequestErrc::kNoRouteBack;
  return {};
}

/// Kernel: cma_ib_check_req_qp_type.
bool takes(const SoftEndpoint& listener, const ibcm::Upcall& request) {
  const ibv_qp_type type = listener.type();
  if (request.kind == ibcm::UpcallKind::kSidrReqReceived) return type == IBV_QPT_UD;
  return (type == IBV_QPT_RC && request.req.transport_service == kReliable) ||
         (type == IBV_QPT_UC && request.req.transport_service == kUnreliable);
}

}  // namespace

const boost::system::error_category& request_category() {
  static const RequestCategory category;
  return category;
}

verbs::Result<Match> match_request(const Core& core, const Device& device,
                                   const ibcm::Upcall& request) {
  verbs::Result<CmaHeader> header = CmaHeader::parse(request.private_data);
  if (!header) return header.error();
  add_scope(header->source, device);
  add_scope(header->destination, device);
  const bool same_host = core.owns(request.req.path.destination);
  verbs::Result<void> sane = check_addresses(core, device, *header, same_host);
  if (!sane) return sane.error();
  for (SoftEndpoint* listener : core.listeners.of(request.service_id)) {
    if (!listener->listens_for(header->destination, device)) continue;
    if (!takes(*listener, request)) return RequestErrc::kServiceType;
    return Match{listener, *header};
  }
  return RequestErrc::kNoListener;
}

}  // namespace anyrdma::transport::soft
