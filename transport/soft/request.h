// Finds the listener of a connection request (cma.c:cma_ib_id_from_event).
#pragma once

#include "transport/ibcm/agent.h"
#include "transport/soft/cma_header.h"
#include "transport/soft/core.h"
#include "verbs/result.h"

namespace anyrdma::transport::soft {

/// The reason why a request is rejected (REJ, reason 28) although a listener has its port.
enum class RequestErrc {
  kNoListener = 1,  ///< no listener has that address on that device

  /// An address is multicast, or is wildcard or loopback and comes from another host.
  kBadAddress,
  kNotOurs,      ///< the destination is no address of the interface by which the request came
  kNoRouteBack,  ///< the source is not reachable through that interface
  kServiceType,  ///< the listener is for another QP type
};
[[nodiscard]] const boost::system::error_category& request_category();
[[nodiscard]] inline boost::system::error_code make_error_code(RequestErrc error) {
  return {static_cast<int>(error), request_category()};
}

/// The listener of a request and the addresses of its header, with their scopes filled in.
struct Match {
  SoftEndpoint* listener = nullptr;
  CmaHeader header{};
};

/// Finds the listener for a received REQ or SIDR_REQ. Errors: HeaderErrc, RequestErrc.
[[nodiscard]] verbs::Result<Match> match_request(const Core& core, const Device& device,
                                                 const ibcm::Upcall& request);

}  // namespace anyrdma::transport::soft

template <>
struct boost::system::is_error_code_enum<anyrdma::transport::soft::RequestErrc> : std::true_type {};
