// Addresses and routes.
#include <rdma/rdma_cma.h>

#include <chrono>

#include "cm/id.h"
#include "verbs/c_api/c_result.h"

using namespace anyrdma::c_api;
using anyrdma::cm::Id;
using std::chrono::milliseconds;

extern "C" {

int rdma_bind_addr(rdma_cm_id* id, sockaddr* addr) {
  if (id == nullptr) return fail(EINVAL);
  return minus_one_on_error([&] { return Id::from(id).bind(addr); });
}

int rdma_resolve_addr(rdma_cm_id* id, sockaddr* src_addr, sockaddr* dst_addr, int timeout_ms) {
  if (id == nullptr) return fail(EINVAL);
  return minus_one_on_error(
      [&] { return Id::from(id).resolve_addr(src_addr, dst_addr, milliseconds(timeout_ms)); });
}

int rdma_resolve_route(rdma_cm_id* id, int timeout_ms) {
  if (id == nullptr) return fail(EINVAL);
  return minus_one_on_error([&] { return Id::from(id).resolve_route(milliseconds(timeout_ms)); });
}

__be16 rdma_get_src_port(rdma_cm_id* id) {
  return id == nullptr ? __be16{0} : Id::from(id).src_port();
}

__be16 rdma_get_dst_port(rdma_cm_id* id) {
  return id == nullptr ? __be16{0} : Id::from(id).dst_port();
}

}  // extern "C"
