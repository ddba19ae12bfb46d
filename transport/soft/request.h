// Finds the listener of a connection request (cma.c:cma_ib_id_from_event).
#pragma once

#include "transport/ibcm/agent.h"
#include "transport/soft/cma_header.h"
#include "transport/soft/core.h"
#include "verbs/result.h"

namespace anyrdma::transport::soft {

/// The reason why a request is rejected although a listener has its port (REJ 28).
enum class RequestErrc {
  kNoListener = 1,  ///< no listener for that address on that device
  kBadAddress,      ///< multicast; or wildcard or loopback from another host
  kNotOurs,         ///< the destination is no address of the interface it came in by
  kNoRouteBack,     ///< the source is not reached by that interface
  kServiceType,     ///< the listener is for another QP type
};
[[nodiscard]] const boost::system::error_category& request_category();
[[nodiscard]] inline boost::system::error_code make_error_code(RequestErrc error) {
  return {static_cast<int>(error), request_category()};
}

/// A request's listener and the content of its header, with scopes filled in.
struct Match {
  SoftEndpoint* listener = nullptr;
  CmaHeader header{};
};

/// Finds the listener for a REQ or a SIDR_REQ. Errors: HeaderErrc, RequestErrc.
[[nodiscard]] verbs::Result<Match> match_request(const Core& core, const Device& device,
                                                 const ibcm::Upcall& request);

}  // namespace anyrdma::transport::soft

template <>
struct boost::system::is_error_code_enum<anyrdma::transport::soft::RequestErrc> : std::true_type {};
