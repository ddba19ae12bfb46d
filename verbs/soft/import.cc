#include "verbs/soft/import.h"

#include <algorithm>
#include <cerrno>
#include <memory>

#include "verbs/soft/soft_hca.h"

namespace anyrdma::verbs::soft {

Result<ibv_pd*> import_pd(ibv_context* context, std::uint32_t handle) {
  auto* const hca = dynamic_cast<SoftHca*>(&provider_of(context));
  if (hca == nullptr) return errno_code(EOPNOTSUPP);
  return hca->import_pd(context, handle);
}

Result<ibv_pd*> SoftHca::import_pd(ibv_context* context, std::uint32_t handle) {
  SoftPd* found = nullptr;
  {
    CriticalSection section(core_.runtime);
    for (SoftPd& each : live_domains_)
      if (each.registration.handle() == handle) found = &protecting(&each);
    if (found == nullptr) return errno_code(EINVAL);
    ++found->users;  // stays until it has its new name
  }
  const Result<ibv_pd*> made = alloc_pd(context);
  CriticalSection section(core_.runtime);
  if (made) {
    static_cast<SoftPd*>(*made)->protection = found;
  } else {
    --found->users;
  }
  return made;
}

Result<ibv_mr*> import_mr(ibv_pd* pd, std::uint32_t handle) {
  if (dynamic_cast<SoftHca*>(&provider_of(pd->context)) == nullptr) return errno_code(EOPNOTSUPP);
  Core& core = SoftContext::from(pd->context).core();
  CriticalSection section(core.runtime);
  const SoftMr* const region = core.memory.region_of_handle(handle);
  if (region == nullptr || region->pd != &protecting(pd)) return errno_code(EINVAL);
  auto name = std::make_unique<ibv_mr>(*region);
  name->context = pd->context;
  name->pd = pd;
  return name.release();
}

Result<ibv_dm*> import_dm(ibv_context* context, std::uint32_t handle) {
  if (dynamic_cast<SoftHca*>(&provider_of(context)) == nullptr) return errno_code(EOPNOTSUPP);
  Core& core = SoftContext::from(context).core();
  CriticalSection section(core.runtime);
  SoftDm* const memory = core.memory.import_device_memory(context, handle);
  if (memory == nullptr) return errno_code(EINVAL);
  return memory;
}

}  // namespace anyrdma::verbs::soft
