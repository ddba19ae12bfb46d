// Device memory, null memory, and advice about regions: what else <infiniband/verbs.h> reaches
// through a context about memory.
#include "verbs/soft/device_memory.h"

#include <cerrno>
#include <cstring>

#include "verbs/soft/context.h"
#include "verbs/soft/core.h"
#include "verbs/soft/own_memory.h"
#include "verbs/soft/queue_pair.h"

namespace anyrdma::verbs::soft {

namespace {

constexpr std::uint32_t kAlignmentMax = 12;  // log2
constexpr std::size_t kGrain = 4;            // offsets and lengths are multiples of it, as on mlx5

Core& core_of(const ibv_context* context) {
  return SoftContext::from(context).core();
}

std::nullptr_t null_with(int error) {
  errno = error;
  return nullptr;
}

// --- device memory ------------------------------------------------------------------------------

bool is_within(const SoftDm& dm, std::uint64_t offset, std::size_t length) {
  return offset % kGrain == 0 && length % kGrain == 0 && offset <= dm.size &&
         length <= dm.size - offset;
}

int copy_to(ibv_dm* dm, std::uint64_t offset, const void* from, std::size_t length) {
  CriticalSection section(core_of(dm->context).runtime);
  auto& memory = *static_cast<SoftDm*>(dm);  // mapped by the process: no call of a kernel's
  if (!is_within(memory, offset, length)) return EINVAL;
  std::memcpy(memory.bytes() + offset, from, length);
  return 0;
}

int copy_from(void* to, ibv_dm* dm, std::uint64_t offset, std::size_t length) {
  CriticalSection section(core_of(dm->context).runtime);
  auto& memory = *static_cast<SoftDm*>(dm);
  if (!is_within(memory, offset, length)) return EINVAL;
  std::memcpy(to, memory.bytes() + offset, length);
  return 0;
}

ibv_dm* alloc_dm(ibv_context* context, ibv_alloc_dm_attr* attr) {
  Core& core = core_of(context);
  CriticalSection section(core.runtime);
  if (const int error = core.refusal("alloc_dm"); error != 0) return null_with(error);
  if (core.config.max_dm_size == 0) return null_with(EOPNOTSUPP);
  if (attr->comp_mask != 0 || attr->length == 0 || attr->log_align_req > kAlignmentMax)
    return null_with(EINVAL);
  SoftDm* dm = core.memory.add_device_memory(context, attr->length, core.config.max_dm_size);
  if (dm == nullptr) return null_with(ENOMEM);
  dm->memcpy_to_dm = copy_to;
  dm->memcpy_from_dm = copy_from;
  return dm;
}

int free_dm(ibv_dm* dm) {
  Core& core = core_of(dm->context);
  CriticalSection section(core.runtime);
  const auto found = core.find_to_end<SoftDm>("ibv_free_dm", *dm);
  if (!found) return found.error().value();
  if ((*found)->regions != 0) return EBUSY;
  core.memory.remove_device_memory(*found);
  return 0;
}

ibv_mr* reg_dm_mr(ibv_pd* pd, ibv_dm* dm, std::uint64_t offset, std::size_t length,
                  unsigned access) {
  constexpr unsigned kKnown = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                              IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
                              IBV_ACCESS_ZERO_BASED | IBV_ACCESS_OPTIONAL_RANGE;
  constexpr unsigned kNeedLocal = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
  Core& core = core_of(pd->context);
  CriticalSection section(core.runtime);
  if (const int error = core.refusal("reg_mr"); error != 0) return null_with(error);
  // It has no address of the process's (ibv_alloc_dm(3)).
  if ((access & ~kKnown) != 0 || (access & IBV_ACCESS_ZERO_BASED) == 0) return null_with(EINVAL);
  const bool writes = (access & kNeedLocal) != 0;
  if (writes && (access & IBV_ACCESS_LOCAL_WRITE) == 0) return null_with(EINVAL);
  const auto given = core.handles.find<SoftPd>(*pd);
  if (!given) return null_with(given.error().value());
  const auto found = core.handles.find<SoftDm>(pd->context, *dm);
  if (!found) return null_with(found.error().value());
  SoftDm& memory = **found;
  if (!is_within(memory, offset, length)) return null_with(EINVAL);
  SoftPd& domain = protecting(*given);
  SoftMr* mr =
      core.memory.add(&domain, memory.bytes() + offset, length, 0, access, core.config.max_mr);
  if (mr == nullptr) return null_with(ENOMEM);
  mr->addr = nullptr;
  mr->device_memory = &memory;
  ++memory.regions;
  ++domain.users;
  if (core.observer != nullptr) core.observer->on_key_opened(mr->rkey);
  return mr;
}

// --- null memory --------------------------------------------------------------------------------

ibv_mr* alloc_null_mr(ibv_pd* pd) {
  Core& core = core_of(pd->context);
  CriticalSection section(core.runtime);
  if (const int error = core.refusal("alloc_null_mr"); error != 0) return null_with(error);
  const auto given = core.handles.find<SoftPd>(*pd);
  if (!given) return null_with(given.error().value());
  SoftPd& domain = protecting(*given);
  SoftMr* mr = core.memory.add_null(&domain, core.config.max_mr);
  if (mr == nullptr) return null_with(ENOMEM);
  ++domain.users;
  return mr;
}

// --- advice -------------------------------------------------------------------------------------

// Whether one range may be prefetched, as ibv_advise_mr(3) lists it. Errno, 0 for success.
int check_range(const MemoryTable& memory, const ibv_pd* pd, const ibv_sge& range, bool write) {
  const SoftMr* region = memory.find_region(range.lkey);
  if (region == nullptr) return EFAULT;
  if (region->pd != pd) return EPERM;
  if ((region->granted & IBV_ACCESS_ON_DEMAND) == 0) return EINVAL;
  if (write && (region->granted & IBV_ACCESS_LOCAL_WRITE) == 0) return EPERM;
  const std::uint64_t offset = range.addr - region->iova;
  const bool inside = offset <= region->length && range.length <= region->length - offset;
  return inside ? 0 : EFAULT;
}

int advise_mr(ibv_pd* pd, ibv_advise_mr_advice advice, std::uint32_t flags, ibv_sge* list,
              std::uint32_t count) {
  Core& core = core_of(pd->context);
  CriticalSection section(core.runtime);
  if (core.removed) return EIO;
  if (!core.config.on_demand_paging) return EOPNOTSUPP;
  const bool write = advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
  const bool passive = advice == IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT;
  if (!write && !passive && advice != IBV_ADVISE_MR_ADVICE_PREFETCH) return EOPNOTSUPP;
  const std::uint32_t flush = IBV_ADVISE_MR_FLAG_FLUSH;
  if ((flags & ~flush) != 0 || count == 0 || list == nullptr) return EINVAL;
  const auto given = core.handles.find<SoftPd>(*pd);
  if (!given) return given.error().value();
  for (std::uint32_t i = 0; i < count; ++i) {
    if (const int error = check_range(core.memory, &protecting(*given), list[i], write); error != 0)
      return error;
  }
  if (passive) return 0;
  bool all = true;
  for (std::uint32_t i = 0; i < count; ++i) {
    const SoftMr& region = *core.memory.find_region(list[i].lkey);
    const auto* start =
        static_cast<const std::uint8_t*>(region.addr) + (list[i].addr - region.iova);
    all = bring_in(start, list[i].length, write) && all;
  }
  // Without the flag no thread waits for it.
  return all || (flags & flush) == 0 ? 0 : EFAULT;
}

}  // namespace

void install_device_memory_operations(verbs_context& context) {
  context.alloc_dm = alloc_dm;
  context.free_dm = free_dm;
  context.reg_dm_mr = reg_dm_mr;
  context.alloc_null_mr = alloc_null_mr;
  context.advise_mr = advise_mr;
}

void describe_memory(const HcaConfig& config, ibv_device_attr_ex& attr) {
  attr.max_dm_size = config.max_dm_size;
  if (!config.on_demand_paging) return;
  constexpr std::uint32_t kMessages =
      IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_SRQ_RECV;
  constexpr std::uint32_t kAll =
      kMessages | IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC;
  attr.odp_caps.general_caps = IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT;
  attr.odp_caps.per_transport_caps.rc_odp_caps = kAll;
  attr.odp_caps.per_transport_caps.uc_odp_caps = kMessages | IBV_ODP_SUPPORT_WRITE;
  attr.odp_caps.per_transport_caps.ud_odp_caps = kMessages;
  attr.xrc_odp_caps = kAll;
}

}  // namespace anyrdma::verbs::soft
