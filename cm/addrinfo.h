// Names and numbers to addresses, in RDMA's words. The one thing here that asks the system (the
// resolver): nothing else in cm depends on it.
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

/// `node` and `service` as for getaddrinfo(3), or null; `hints` may be null. Only the system's
/// first answer is given. RAI_PASSIVE: a source to listen on; RAI_NUMERICHOST: numbers only, and
/// together with RAI_FAMILY and AF_IB an address of InfiniBand's from the text of an IPv6 one;
/// RAI_NOROUTE changes nothing, because there is no ibacm to ask for a route. Without node and
/// service the hints are the answer. RAI_SA, which asks the administrators of InfiniBand's subnets:
/// ENOENT, there are none; EOPNOTSUPP with a node or RAI_DNS, EINVAL without a service. EINVAL: no
/// argument at all; ENOMEM; or an error of addrinfo_category(). Waits as long as the resolver does.
/// Source: rdma_getaddrinfo(3), L/addrinfo.c:rdma_getaddrinfo.
[[nodiscard]] Result<Addrinfo> resolve_addrinfo(const char* node, const char* service,
                                                const rdma_addrinfo* hints);

}  // namespace anyrdma::cm
