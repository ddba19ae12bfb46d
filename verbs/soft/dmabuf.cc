#include "verbs/soft/dmabuf.h"

#include <cerrno>

#include "verbs/soft/soft_hca.h"

namespace anyrdma::verbs::soft {
namespace {

/// EOPNOTSUPP: the context is not one of a software HCA.
Result<SoftHca*> device_of(ibv_context* context) {
  auto* const hca = dynamic_cast<SoftHca*>(&provider_of(context));
  if (hca == nullptr) return errno_code(EOPNOTSUPP);
  return hca;
}

}  // namespace

Result<ibv_mr*> SoftHca::reg_dmabuf(ibv_pd* pd, const MappedDmabuf& part, unsigned access) {
  const Result<ibv_mr*> made = reg_mr(pd, part.memory.get(), part.length, part.iova, access);
  if (!made) return made.error();
  const CriticalSection section(core_.runtime);
  auto& region = static_cast<SoftMr&>(**made);
  region.dmabuf = part.memory;
  region.addr = reinterpret_cast<void*>(part.offset);  // NOLINT(performance-no-int-to-ptr)
  return *made;
}

Result<void> SoftHca::revoke_dmabuf(const ibv_mr& mr) {
  const CriticalSection section(core_.runtime);
  const auto found = core_.handles.find<SoftMr>(mr);
  if (!found || (*found)->dmabuf == nullptr) return errno_code(EINVAL);
  unpublish(core_, **found);
  settle_effects(core_);
  core_.lent.keep_all();
  core_.memory.revoke(**found);
  return {};
}

Result<ibv_mr*> register_dmabuf(ibv_pd* pd, const MappedDmabuf& part, unsigned access) {
  const Result<SoftHca*> hca = device_of(pd->context);
  if (!hca) return hca.error();
  return (*hca)->reg_dmabuf(pd, part, access);
}

Result<void> revoke_dmabuf(ibv_mr* region) {
  if (region == nullptr) return errno_code(EINVAL);
  const Result<SoftHca*> hca = device_of(region->context);
  if (!hca) return hca.error();
  return (*hca)->revoke_dmabuf(*region);
}

}  // namespace anyrdma::verbs::soft
