// Resolves names and numbers to RDMA addresses (rdma_getaddrinfo). The only part of cm that calls
// the system, its resolver; no other part depends on it.
#pragma once

#include <rdma/rdma_cma.h>

#include <memory>

#include "verbs/result.h"

namespace anyrdma::cm {

using verbs::Result;

struct FreeAddrinfo {
  void operator()(rdma_addrinfo* info) const;
};
/// Owns a list of answers; every part of it comes from malloc, as C programs expect.
using Addrinfo = std::unique_ptr<rdma_addrinfo, FreeAddrinfo>;

/// The errors of getaddrinfo(3): EAI_NONAME and so on.
[[nodiscard]] const boost::system::error_category& addrinfo_category();

/// Resolves `node` and `service`, as for getaddrinfo(3), or null; `hints` may be null. Returns only
/// the system's first answer. Without node and service the hints are the answer. Blocks as long as
/// the resolver does.
///
/// Flags: RAI_PASSIVE asks for a source to listen on. RAI_NUMERICHOST accepts numbers only;
/// together with RAI_FAMILY and AF_IB it makes an InfiniBand address of an IPv6 text. RAI_NOROUTE
/// has no effect, because there is no ibacm to ask for a route. RAI_SA would ask a subnet
/// administrator, of which there is none: ENOENT, or EOPNOTSUPP with a node or RAI_DNS, or EINVAL
/// without a service.
///
/// Errors: EINVAL without any argument, ENOMEM, or an error of addrinfo_category(). Source:
/// rdma_getaddrinfo(3), L/addrinfo.c:rdma_getaddrinfo.
[[nodiscard]] Result<Addrinfo> resolve_addrinfo(const char* node, const char* service,
                                                const rdma_addrinfo* hints);

}  // namespace anyrdma::cm
