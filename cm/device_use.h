// The protection domain and the limits of a device that all ids of a transport share. Internal to
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

/// The devices in use on one transport. The transport stores it as its attachment.
class DeviceUses final : public transport::Transport::Attachment {
 public:
  /// Adds a user to the device behind `verbs`. Outside the critical section, because the provider
  /// enters it. ENODEV: its node GUID is 0; errors of ibv_alloc_pd and ibv_query_device.
  [[nodiscard]] static Result<DeviceUse*> acquire(transport::Transport& transport,
                                                  ibv_context* verbs);
  /// Removes a user; the last one frees the protection domain, unless the application still has
  /// objects on it. Outside the critical section.
  static void release(transport::Transport& transport, DeviceUse* use);

 private:
  [[nodiscard]] static DeviceUses& of(transport::Transport& transport);
  [[nodiscard]] DeviceUse* find(const ibv_context* verbs);

  std::vector<std::unique_ptr<DeviceUse>> uses_;  // a handful at most: searched in order
};

}  // namespace anyrdma::cm
