// The protection domain and the limits of a device, which all ids on that device share. Internal to
// cm.
#pragma once

#include <infiniband/verbs.h>

#include <memory>
#include <vector>

#include "cm/conn_param.h"
#include "transport/transport.h"

namespace anyrdma::cm {

/// The default protection domain and the limits of a device (L/cma.c:ucma_get_device).
struct DeviceUse {
  ibv_context* verbs = nullptr;
  ibv_pd* pd = nullptr;
  Depths limits;
  unsigned users = 0;
};

/// The devices that ids of one transport use. The transport owns the object
/// (Transport::attachment).
class DeviceUses final : public transport::Transport::Attachment {
 public:
  /// Adds a user to the device behind `verbs`. Call it outside the critical section
  /// (verbs::Runtime::enter), because the provider enters that. ENODEV: the device's node GUID is
  /// 0. Also errors of ibv_alloc_pd and ibv_query_device.
  [[nodiscard]] static Result<DeviceUse*> acquire(transport::Transport& transport,
                                                  ibv_context* verbs);
  /// Removes a user of the device. The last one frees the protection domain, unless the application
  /// still has objects on it. Call it outside the critical section (verbs::Runtime::enter).
  static void release(transport::Transport& transport, DeviceUse* use);

 private:
  [[nodiscard]] static DeviceUses& of(transport::Transport& transport);
  [[nodiscard]] DeviceUse* find(const ibv_context* verbs);

  std::vector<std::unique_ptr<DeviceUse>> uses_;  // At most a few, so they are searched in order.
};

}  // namespace anyrdma::cm
