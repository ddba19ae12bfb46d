// Events that a program writes, and addresses that are looked up with an event at the end.
#include <cerrno>

#include "cm/c_api/newer_functions.h"
#include "cm/id.h"
#include "cm/newer_rdma_cma.h"
#include "verbs/c_api/c_result.h"

using namespace anyrdma::c_api;
using anyrdma::cm::Id;

extern "C" {

__attribute__((no_sanitize("undefined"))) int rdma_write_cm_event(rdma_cm_id* id,
                                                                  rdma_cm_event_type event,
                                                                  int status, std::uint64_t arg) {
  if (id == nullptr || static_cast<int>(event) != anyrdma::cm::kUserEvent) return fail(EINVAL);
  return minus_one_on_error([&] { return Id::from(id).write_event(status, arg); });
}

// errno is the resolver's own number (EAI_NONAME) where the resolver has failed, as librdmacm's is.
int rdma_resolve_addrinfo(rdma_cm_id* id, const char* node, const char* service,
                          const rdma_addrinfo* hints) {
  if (id == nullptr) return fail(EINVAL);
  return minus_one_on_error([&] { return Id::from(id).resolve_addrinfo(node, service, hints); });
}

int rdma_query_addrinfo(rdma_cm_id* id, rdma_addrinfo** info) {
  if (id == nullptr || info == nullptr) return fail(EINVAL);
  return minus_one_on_error([&]() -> Result<void> {
    auto resolved = Id::from(id).query_addrinfo();
    if (!resolved) return resolved.error();
    *info = resolved->release();  // the application's, until it frees it
    return {};
  });
}

}  // extern "C"
