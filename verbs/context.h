// The RAII class for an open device.
#pragma once

#include <cstdint>

#include "verbs/handle.h"

namespace anyrdma::verbs {

/// Owns an ibv_context. Destroy everything that was made with it before.
class Context : public Handle<ibv_context, &Provider::close_device> {
 public:
  using Handle::Handle;

  /// Opens a device. EINVAL: null device; EIO: the device was removed.
  [[nodiscard]] static Result<Context> open(Provider& provider, ibv_device* device);

  /// Queries the device's limits, as ibv_query_device does. EINVAL: the context was moved from;
  /// other errors as the provider defines.
  [[nodiscard]] Result<ibv_device_attr> query_device() const;
  [[nodiscard]] Result<ibv_port_attr> query_port(std::uint8_t port) const;
  [[nodiscard]] Result<ibv_gid_entry> query_gid(std::uint8_t port, std::uint32_t index) const;
  /// Waits for the next asynchronous event of the device, and returns it. The caller must
  /// acknowledge the event; otherwise destroying the object that the event is about waits for ever.
  [[nodiscard]] Result<ibv_async_event> next_event() const;
  void acknowledge(const ibv_async_event& event) const;
};

}  // namespace anyrdma::verbs
