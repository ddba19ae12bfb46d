// What rdma-core 65 offers of devices other than Soft-RoCE, and what no program needs of a software
// HCA: libibverbs says EOPNOTSUPP to each of these with rxe's driver, and so do we.
#include <cerrno>

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

}  // extern "C"
