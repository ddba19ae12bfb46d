#include "verbs/context.h"

#include <cerrno>

namespace anyrdma::verbs {

Result<Context> Context::open(Provider& provider, ibv_device* device) {
  if (device == nullptr) return errno_code(EINVAL);
  const Result<ibv_context*> context = provider.open_device(device);
  if (!context) return context.error();
  return Context(*context);
}

Result<ibv_device_attr> Context::query_device() const {
  if (get() == nullptr) return errno_code(EINVAL);
  ibv_device_attr attr{};
  const Result<void> result = provider_of(get()).query_device(get(), &attr);
  if (!result) return result.error();
  return attr;
}

Result<ibv_port_attr> Context::query_port(std::uint8_t port) const {
  if (get() == nullptr) return errno_code(EINVAL);
  ibv_port_attr attr{};
  const Result<void> result = provider_of(get()).query_port(get(), port, &attr);
  if (!result) return result.error();
  return attr;
}

Result<ibv_gid_entry> Context::query_gid(std::uint8_t port, std::uint32_t index) const {
  if (get() == nullptr) return errno_code(EINVAL);
  return provider_of(get()).query_gid(get(), port, index);
}

Result<ibv_async_event> Context::next_event() const {
  if (get() == nullptr) return errno_code(EINVAL);
  return provider_of(get()).get_async_event(get());
}

void Context::acknowledge(const ibv_async_event& event) const {
  if (get() != nullptr) provider_of(get()).ack_async_event(event);
}

}  // namespace anyrdma::verbs
