// What rdma-core 65 offers of devices other than Soft-RoCE, whose driver has none of it: libibverbs
// then says EOPNOTSUPP to each of these, and so do we.
#include <cerrno>
#include <cstring>

#include "verbs/c_api/c_result.h"
#include "verbs/c_api/newer_functions.h"

using namespace anyrdma::c_api;

namespace {

/// As the functions return it that give an errno value.
int refuse(const void* object) {
  return object == nullptr ? EINVAL : EOPNOTSUPP;
}

void* refuse_pointer(const void* object) {
  errno = refuse(object);
  return nullptr;
}

}  // namespace

extern "C" {

// --- hints to the processor's caches ------------------------------------------------------------

ibv_dmah* ibv_alloc_dmah(ibv_context* context, ibv_dmah_init_attr*) {
  return static_cast<ibv_dmah*>(refuse_pointer(context));
}
int ibv_dealloc_dmah(ibv_dmah* dmah) {
  return refuse(dmah);
}

// --- device memory as a dma-buf -----------------------------------------------------------------

int ibv_dm_export_dmabuf_fd(ibv_dm* dm) {
  return fail(refuse(dm));
}

// --- what a port's lanes can carry together -----------------------------------------------------

int ibv_query_port_speed(ibv_context* context, std::uint32_t, std::uint64_t* port_speed) {
  return refuse(port_speed == nullptr ? nullptr : context);
}

// --- completion counters ------------------------------------------------------------------------

// NOLINTNEXTLINE(bugprone-reserved-identifier)
int _ibv_query_comp_cntr_caps(ibv_context* context, ibv_comp_cntr_caps* caps,
                              std::size_t caps_size) {
  if (caps == nullptr) return EINVAL;
  std::memset(static_cast<void*>(caps), 0, caps_size);
  return refuse(context);
}

ibv_comp_cntr* ibv_create_comp_cntr(ibv_context* context, ibv_comp_cntr_init_attr*) {
  return static_cast<ibv_comp_cntr*>(refuse_pointer(context));
}
int ibv_destroy_comp_cntr(ibv_comp_cntr* comp_cntr) {
  return refuse(comp_cntr);
}
int ibv_set_comp_cntr(ibv_comp_cntr* comp_cntr, std::uint64_t) {
  return refuse(comp_cntr);
}
int ibv_set_err_comp_cntr(ibv_comp_cntr* comp_cntr, std::uint64_t) {
  return refuse(comp_cntr);
}
int ibv_inc_comp_cntr(ibv_comp_cntr* comp_cntr, std::uint64_t) {
  return refuse(comp_cntr);
}
int ibv_inc_err_comp_cntr(ibv_comp_cntr* comp_cntr, std::uint64_t) {
  return refuse(comp_cntr);
}
int ibv_read_comp_cntr(ibv_comp_cntr* comp_cntr, std::uint64_t*) {
  return refuse(comp_cntr);
}
int ibv_read_err_comp_cntr(ibv_comp_cntr* comp_cntr, std::uint64_t*) {
  return refuse(comp_cntr);
}
int ibv_qp_attach_comp_cntr(ibv_qp* qp, ibv_comp_cntr*, ibv_qp_attach_comp_cntr_attr*) {
  return refuse(qp);
}

}  // extern "C"
