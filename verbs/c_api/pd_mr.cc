// Protection domains and memory regions.
#include <infiniband/verbs.h>

#include "verbs/c_api/c_result.h"
#include "verbs/provider.h"

// A macro of the header chooses between these by the access flags.
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

namespace anyrdma::c_api {
namespace {

using verbs::provider_of;

ibv_mr* reg_mr(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova, unsigned access) {
  return null_on_error([&]() -> Result<ibv_mr*> {
    if (pd == nullptr) return errno_code(EINVAL);
    return provider_of(pd->context).reg_mr(pd, address, length, iova, access);
  });
}

}  // namespace
}  // namespace anyrdma::c_api

using namespace anyrdma::c_api;

namespace {

/// What rdma-core refuses before the kernel sees it (libibverbs, verbs.c). Everything else is the
/// command's error.
bool is_bad_input(int flags, const void* address, std::size_t length, int access) {
  if ((flags & ~IBV_REREG_MR_FLAGS_SUPPORTED) != 0) return true;
  if ((flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0 && (address == nullptr || length == 0))
    return true;
  return access != 0 && (flags & IBV_REREG_MR_CHANGE_ACCESS) == 0;
}

}  // namespace

extern "C" {

ibv_pd* ibv_alloc_pd(ibv_context* context) {
  return null_on_error([&]() -> Result<ibv_pd*> {
    if (context == nullptr) return errno_code(EINVAL);
    return provider_of(context).alloc_pd(context);
  });
}

int ibv_dealloc_pd(ibv_pd* pd) {
  if (pd == nullptr) return EINVAL;
  return errno_on_error([&] { return provider_of(pd->context).dealloc_pd(pd); });
}

ibv_mr* ibv_reg_mr(ibv_pd* pd, void* address, std::size_t length, int access) {
  return reg_mr(pd, address, length, reinterpret_cast<std::uintptr_t>(address),
                static_cast<unsigned>(access));
}

ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova,
                        int access) {
  return reg_mr(pd, address, length, iova, static_cast<unsigned>(access));
}

ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova,
                         unsigned access) {
  return reg_mr(pd, address, length, iova, access);
}

int ibv_dereg_mr(ibv_mr* mr) {
  if (mr == nullptr) return EINVAL;
  return errno_on_error([&] { return provider_of(mr->context).dereg_mr(mr); });
}

// Its errors are numbers of its own: what to do about the old region, which here is as it was.
int ibv_rereg_mr(ibv_mr* mr, int flags, ibv_pd* pd, void* address, std::size_t length, int access) {
  if (mr == nullptr) {
    errno = EINVAL;
    return IBV_REREG_MR_ERR_INPUT;
  }
  const int error = errno_on_error(
      [&] { return provider_of(mr->context).rereg_mr(mr, flags, pd, address, length, access); });
  if (error == 0) return 0;
  return is_bad_input(flags, address, length, access) ? IBV_REREG_MR_ERR_INPUT
                                                      : IBV_REREG_MR_ERR_CMD;
}

}  // extern "C"
