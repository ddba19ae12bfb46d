// Memory regions of the software HCA.
#include <cerrno>
#include <limits>

#include "verbs/soft/own_memory.h"
#include "verbs/soft/soft_hca.h"

namespace anyrdma::verbs::soft {

namespace {

constexpr unsigned kWritable = IBV_ACCESS_LOCAL_WRITE;

// What ibv_reg_mr(3) says of the flags. Errno, 0 for success.
int check_access(unsigned access, const HcaConfig& config) {
  constexpr unsigned kKnown = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                              IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
                              IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED | IBV_ACCESS_HUGETLB |
                              IBV_ACCESS_ON_DEMAND | IBV_ACCESS_OPTIONAL_RANGE;
  constexpr unsigned kNeedLocal = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
  const bool on_demand = (access & IBV_ACCESS_ON_DEMAND) != 0;
  if (on_demand && !config.on_demand_paging) return EOPNOTSUPP;
  if ((access & ~kKnown) != 0) return EINVAL;
  // Remote write access requires local write access.
  const bool writes = (access & kNeedLocal) != 0;
  return writes && (access & IBV_ACCESS_LOCAL_WRITE) == 0 ? EINVAL : 0;
}

// Memory that is not paged on demand has to be there from the beginning.
int check_range(const void* address, std::size_t length, std::uint64_t iova, unsigned access) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  if (begin + length < begin || iova + length < iova) return EINVAL;
  if (!has_pages(address, length)) return EINVAL;  // kernel: ib_umem_get, ib_init_umem_odp
  if ((access & IBV_ACCESS_ON_DEMAND) != 0) return 0;
  return is_mapped(address, length, (access & kWritable) != 0) ? 0 : EFAULT;
}

// The whole address space, whatever comes to be there (ibv_reg_mr(3), implicit ODP).
bool is_implicit(const void* address, std::size_t length, unsigned access) {
  return (access & IBV_ACCESS_ON_DEMAND) != 0 && address == nullptr &&
         length == std::numeric_limits<std::size_t>::max();
}

}  // namespace

Result<ibv_mr*> SoftHca::reg_mr(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova,
                                unsigned access) {
  CriticalSection section(core_.runtime);
  if (const int error = core_.refusal("reg_mr"); error != 0) return errno_code(error);
  if (const int error = check_access(access, core_.config); error != 0) return errno_code(error);
  if (is_implicit(address, length, access) && iova != 0) return errno_code(EINVAL);
  if (const int error = check_range(address, length, iova, access); error != 0)
    return errno_code(error);
  const auto found = core_.handles.find<SoftPd>(*pd);
  if (!found) return found.error();
  const std::uint64_t first = (access & IBV_ACCESS_ZERO_BASED) != 0 ? 0 : iova;
  SoftPd& domain = protecting(*found);
  SoftMr* mr = core_.memory.add(&domain, address, length, first, access, core_.config.max_mr);
  if (mr == nullptr) return errno_code(ENOMEM);
  ++domain.users;
  if (core_.observer != nullptr) core_.observer->on_key_opened(mr->rkey);
  if (core_.ownership != nullptr) core_.ownership->on_region(*mr);
  publish(core_, *mr);
  return mr;
}

Result<void> SoftHca::dereg_mr(ibv_mr* mr) {
  CriticalSection section(core_.runtime);
  const auto found = core_.find_to_end<SoftMr>("ibv_dereg_mr", *mr);
  if (!found) return found.error();
  SoftMr& region = **found;
  if (region.windows != 0) return errno_code(EBUSY);
  unpublish(core_, region);
  settle_effects(core_);
  if (core_.ownership != nullptr) core_.ownership->on_region_ending(region, "ibv_dereg_mr");
  --static_cast<SoftPd*>(region.pd)->users;
  core_.lent.keep_all();
  if (core_.observer != nullptr) core_.observer->on_key_closed(region.rkey);
  core_.memory.remove(&region);
  return {};
}

Result<void> SoftHca::rereg_mr(ibv_mr* mr, int flags, ibv_pd* pd, void* address, std::size_t length,
                               int access) {
  const auto asked = [flags](int flag) { return (flags & flag) != 0; };
  CriticalSection section(core_.runtime);
  if (const int error = core_.refusal("rereg_mr"); error != 0) return errno_code(error);
  const auto found = core_.handles.find<SoftMr>(*mr);
  if (!found) return found.error();
  SoftMr& region = **found;
  if (flags == 0 || (flags & ~IBV_REREG_MR_FLAGS_SUPPORTED) != 0) return errno_code(EINVAL);
  if (region.device_memory != nullptr || region.dmabuf != nullptr || region.null)
    return errno_code(EINVAL);
  const bool moves = asked(IBV_REREG_MR_CHANGE_TRANSLATION);
  if (moves && (address == nullptr || length == 0)) return errno_code(EINVAL);
  if (access != 0 && !asked(IBV_REREG_MR_CHANGE_ACCESS)) return errno_code(EINVAL);
  auto* domain = static_cast<SoftPd*>(region.pd);
  if (asked(IBV_REREG_MR_CHANGE_PD)) {
    if (pd == nullptr) return errno_code(EINVAL);
    const auto given = core_.handles.find<SoftPd>(region.context, *pd);
    if (!given) return given.error();
    domain = &protecting(*given);
  }
  if (region.windows != 0) return errno_code(EBUSY);
  const unsigned granted =
      asked(IBV_REREG_MR_CHANGE_ACCESS) ? static_cast<unsigned>(access) : region.granted;
  if (const int error = check_access(granted, core_.config); error != 0) return errno_code(error);
  void* const start = moves ? address : region.addr;
  const std::size_t bytes = moves ? length : region.length;
  std::uint64_t iova = moves ? reinterpret_cast<std::uintptr_t>(address) : region.iova;
  if ((granted & IBV_ACCESS_ZERO_BASED) != 0) iova = 0;
  if (const int error = check_range(start, bytes, iova, granted); error != 0)
    return errno_code(error);
  --static_cast<SoftPd*>(region.pd)->users;
  ++domain->users;
  unpublish(core_, region);
  settle_effects(core_);
  core_.lent.keep_all();
  if (core_.ownership != nullptr && moves)
    core_.ownership->on_region_ending(region, "ibv_rereg_mr");
  core_.memory.change(region, domain, start, bytes, iova, granted);
  if (core_.ownership != nullptr) core_.ownership->on_region(region);
  publish(core_, region);
  return {};
}

}  // namespace anyrdma::verbs::soft
