#include "verbs/memory.h"

#include <cerrno>
#include <cstdint>

namespace anyrdma::verbs {

Result<ProtectionDomain> ProtectionDomain::create(ibv_context* context) {
  if (context == nullptr) return errno_code(EINVAL);
  const Result<ibv_pd*> pd = provider_of(context).alloc_pd(context);
  if (!pd) return pd.error();
  return ProtectionDomain(*pd);
}

Result<MemoryRegion> MemoryRegion::create(ibv_pd* pd, void* address, std::size_t length,
                                          unsigned access) {
  if (pd == nullptr || (address == nullptr && length != 0)) return errno_code(EINVAL);
  const auto iova = reinterpret_cast<std::uintptr_t>(address);
  const Result<ibv_mr*> mr = provider_of(pd->context).reg_mr(pd, address, length, iova, access);
  if (!mr) return mr.error();
  return MemoryRegion(*mr);
}

ibv_sge MemoryRegion::piece(std::size_t offset, std::uint32_t length) const {
  return {reinterpret_cast<std::uintptr_t>(get()->addr) + offset, length, get()->lkey};
}

}  // namespace anyrdma::verbs
