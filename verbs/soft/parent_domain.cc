// Thread domains and parent domains: hints about who uses an object, and whose memory it takes. No
// object of a software device lies in memory that the application could want to choose, and any
// thread may use it; so both are accepted, and what is made with a parent domain belongs to the
// protection domain behind it.
#include <algorithm>
#include <cerrno>

#include "verbs/soft/context.h"
#include "verbs/soft/soft_hca.h"

namespace anyrdma::verbs::soft {
namespace {

template <class Object>
Object* object_or_errno(const Result<Object*>& result) {
  if (result) return *result;
  errno = result.error().value();
  return nullptr;
}

SoftHca& hca_of(const ibv_context* context) {
  return static_cast<SoftHca&>(provider_of(context));
}

int check(const ibv_context* context, const ibv_parent_domain_init_attr& init) {
  constexpr std::uint32_t kMask =
      IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
  // IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC of rdma-core 65: memory that devices of
  // a confidential machine reach. No device reaches ours.
  constexpr std::uint32_t kUnprotected = 1 << 2;
  if ((init.comp_mask & ~(kMask | kUnprotected)) != 0) return EINVAL;
  if ((init.comp_mask & kUnprotected) != 0) return EOPNOTSUPP;
  if (init.pd == nullptr) return EINVAL;
  if (init.td != nullptr && init.td->context != context) return EINVAL;
  const bool allocators = (init.comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) != 0;
  return allocators && (init.alloc == nullptr || init.free == nullptr) ? EINVAL : 0;
}

ibv_pd* alloc_parent_domain(ibv_context* context, ibv_parent_domain_init_attr* init) {
  const int error = init == nullptr ? EINVAL : check(context, *init);
  if (error == 0) return object_or_errno(hca_of(context).alloc_parent_domain(context, *init));
  errno = error;
  return nullptr;
}

ibv_td* alloc_td(ibv_context* context, ibv_td_init_attr* init) {
  if (init != nullptr && init->comp_mask == 0)
    return object_or_errno(hca_of(context).alloc_td(context));
  errno = EINVAL;
  return nullptr;
}

int dealloc_td(ibv_td* td) {
  if (td == nullptr) return EINVAL;
  const Result<void> result = hca_of(td->context).dealloc_td(td);
  return result ? 0 : result.error().value();
}

}  // namespace

Result<ibv_pd*> SoftHca::alloc_parent_domain(ibv_context* context,
                                             const ibv_parent_domain_init_attr& init) {
  CriticalSection section(core_.runtime);
  const auto protection = core_.handles.find<SoftPd>(context, *init.pd);
  if (!protection) return protection.error();
  if ((*protection)->protection != nullptr) return errno_code(EINVAL);  // one level only
  const Result<ibv_pd*> made = make_domain(context, "alloc_parent_domain");
  if (!made) return made;
  auto& parent = *static_cast<SoftPd*>(*made);
  parent.protection = *protection;
  ++parent.protection->users;
  parent.thread_domain = static_cast<SoftTd*>(init.td);
  if (parent.thread_domain != nullptr) ++parent.thread_domain->users;
  return made;
}

Result<ibv_td*> SoftHca::alloc_td(ibv_context* context) {
  CriticalSection section(core_.runtime);
  if (const int error = core_.refusal("alloc_td"); error != 0) return errno_code(error);
  auto* td = new SoftTd{};
  td->context = context;
  live_thread_domains_.push_back(*td);
  return td;
}

Result<void> SoftHca::dealloc_td(ibv_td* td) {
  CriticalSection section(core_.runtime);
  auto* soft = static_cast<SoftTd*>(td);
  const auto is_this = [soft](const SoftTd& live) { return &live == soft; };
  if (std::ranges::none_of(live_thread_domains_, is_this)) return errno_code(EINVAL);
  if (soft->users != 0) return errno_code(EBUSY);
  delete soft;
  return {};
}

void install_domain_operations(verbs_context& context) {
  context.alloc_parent_domain = alloc_parent_domain;
  context.alloc_td = alloc_td;
  context.dealloc_td = dealloc_td;
}

}  // namespace anyrdma::verbs::soft
