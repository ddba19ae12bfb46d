// Resolves names and numbers to RDMA addresses, as rdma_getaddrinfo does. No other part of cm calls
// the system (here its resolver).
#pragma once

#include <rdma/rdma_cma.h>

#include <memory>

#include "verbs/result.h"

namespace anyrdma::cm {

using verbs::Result;

struct FreeAddrinfo {
  void operator()(rdma_addrinfo* info) const;
};
/// Owns a list of answers of resolve_addrinfo(). All its parts come from malloc, as C programs
/// expect.
using Addrinfo = std::unique_ptr<rdma_addrinfo, FreeAddrinfo>;

/// The errors of getaddrinfo(3): EAI_NONAME and so on.
[[nodiscard]] const boost::system::error_category& addrinfo_category();

/// Resolves `node` and `service`, which are as for getaddrinfo(3) and may be null. `hints` may be
/// null, too. Returns only the system's first answer. Without node and service, the hints are the
/// answer. Blocks as long as the system's resolver does.
///
/// Flags of `hints`: RAI_PASSIVE asks for a source address to listen on. RAI_NUMERICHOST accepts
/// only numeric addresses; together with RAI_FAMILY and AF_IB it makes an InfiniBand address of an
/// IPv6 text. RAI_NOROUTE has no effect, because no ibacm exists that could be asked for a route.
/// RAI_SA asks a subnet administrator, which does not exist. It fails with ENOENT, or EOPNOTSUPP
/// with a node or RAI_DNS, or EINVAL without a service.
///
/// Errors of resolve_addrinfo(): EINVAL without any argument, ENOMEM, or an error of
/// addrinfo_category(). Source: rdma_getaddrinfo(3), L/addrinfo.c:rdma_getaddrinfo.
[[nodiscard]] Result<Addrinfo> resolve_addrinfo(const char* node, const char* service,
                                                const rdma_addrinfo* hints);

}  // namespace anyrdma::cm
