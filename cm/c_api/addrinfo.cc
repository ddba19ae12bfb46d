// rdma_getaddrinfo: 0, -1 with errno set, or what getaddrinfo(3) returned.
#include "cm/addrinfo.h"

#include <rdma/rdma_cma.h>

#include "verbs/c_api/c_result.h"
#include "verbs/c_api/process.h"

using namespace anyrdma::c_api;
namespace cm = anyrdma::cm;

extern "C" {

int rdma_getaddrinfo(const char* node, const char* service, const rdma_addrinfo* hints,
                     rdma_addrinfo** res) {
  if (res == nullptr || (node == nullptr && service == nullptr && hints == nullptr)) {
    return fail(EINVAL);
  }
  // As with librdmacm, nothing is resolved where there is no device to reach it with.
  const auto transport = guarded([] { return process_transport(); });
  if (!transport) return fail(transport.error().value());
  auto info = guarded([&] { return cm::resolve_addrinfo(node, service, hints); });
  if (info) {
    *res = info->release();  // the application's, until it frees it
    return 0;
  }
  const int error = info.error().value();
  return info.error().category() == cm::addrinfo_category() ? error : fail(error);
}

void rdma_freeaddrinfo(rdma_addrinfo* res) {
  cm::FreeAddrinfo()(res);
}

}  // extern "C"
