// An open device.
#pragma once

#include <cstdint>

#include "verbs/handle.h"

namespace anyrdma::verbs {

/// Owns an ibv_context. Everything made with it must be destroyed before.
class Context : public Handle<ibv_context, &Provider::close_device> {
 public:
  using Handle::Handle;

  /// EINVAL: null device; EIO: the device is gone.
  [[nodiscard]] static Result<Context> open(Provider& provider, ibv_device* device);

  /// The calls below: EINVAL for a moved-from context; otherwise as the provider says.
  [[nodiscard]] Result<ibv_device_attr> query_device() const;
  [[nodiscard]] Result<ibv_port_attr> query_port(std::uint8_t port) const;
  [[nodiscard]] Result<ibv_gid_entry> query_gid(std::uint8_t port, std::uint32_t index) const;
  /// Waits for the next asynchronous event; acknowledge it, or destroying its object waits for
  /// ever.
  [[nodiscard]] Result<ibv_async_event> next_event() const;
  void acknowledge(const ibv_async_event& event) const;
};

}  // namespace anyrdma::verbs
