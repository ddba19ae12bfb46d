#include "cm/device_use.h"

#include <algorithm>
#include <cerrno>

#include "verbs/assert.h"
#include "verbs/provider.h"

namespace anyrdma::cm {
namespace {

Result<std::unique_ptr<DeviceUse>> open(ibv_context* verbs) {
  verbs::Provider& provider = verbs::provider_of(verbs);
  ibv_device_attr attr{};
  if (Result<void> queried = provider.query_device(verbs, &attr); !queried) return queried.error();
  // librdmacm knows devices by their GUID; without one it leaves id->verbs null, and older ones
  // then crash (rdma-core #1547).
  if (attr.node_guid == 0) return verbs::errno_code(ENODEV);
  Result<ibv_pd*> pd = provider.alloc_pd(verbs);
  if (!pd) return pd.error();
  auto use = std::make_unique<DeviceUse>();
  use->verbs = verbs;
  use->pd = *pd;
  // One byte each, as in librdmacm: the wire has no more.
  use->limits.responder_resources = static_cast<std::uint8_t>(attr.max_qp_rd_atom);
  use->limits.initiator_depth = static_cast<std::uint8_t>(attr.max_qp_init_rd_atom);
  return use;
}

void close(const DeviceUse& use) {
  // EBUSY: the application left memory regions behind; librdmacm leaks the domain then, too.
  (void)verbs::provider_of(use.verbs).dealloc_pd(use.pd).has_value();
}

}  // namespace

DeviceUses& DeviceUses::of(transport::Transport& transport) {
  auto& slot = transport.attachment();
  if (slot == nullptr) slot = std::make_unique<DeviceUses>();
  return static_cast<DeviceUses&>(*slot);
}

DeviceUse* DeviceUses::find(const ibv_context* verbs) {
  for (const auto& use : uses_) {
    if (use->verbs == verbs) return use.get();
  }
  return nullptr;
}

Result<DeviceUse*> DeviceUses::acquire(transport::Transport& transport, ibv_context* verbs) {
  {
    verbs::CriticalSection section(transport.runtime());
    if (DeviceUse* use = of(transport).find(verbs)) {
      ++use->users;
      return use;
    }
  }
  Result<std::unique_ptr<DeviceUse>> fresh = open(verbs);
  if (!fresh) return fresh.error();
  DeviceUse* use = nullptr;
  {
    verbs::CriticalSection section(transport.runtime());
    DeviceUses& uses = of(transport);
    use = uses.find(verbs);
    if (use == nullptr) {
      use = fresh->get();
      uses.uses_.push_back(std::move(*fresh));
    }
    ++use->users;
  }
  if (*fresh != nullptr) close(**fresh);  // another thread was faster
  return use;
}

void DeviceUses::release(transport::Transport& transport, DeviceUse* use) {
  std::unique_ptr<DeviceUse> last;
  {
    verbs::CriticalSection section(transport.runtime());
    CM_ASSERT(use->users > 0);
    if (--use->users != 0) return;
    auto& uses = of(transport).uses_;
    const auto at = std::find_if(uses.begin(), uses.end(),
                                 [use](const auto& entry) { return entry.get() == use; });
    CM_ASSERT(at != uses.end());
    last = std::move(*at);
    uses.erase(at);
  }
  close(*last);
}

}  // namespace anyrdma::cm
