// Devices: finding, opening and asking them.
#include <infiniband/verbs.h>

#include <algorithm>
#include <cstdlib>
#include <span>

#include "verbs/c_api/c_result.h"
#include "verbs/c_api/import.h"
#include "verbs/c_api/process.h"
#include "verbs/provider.h"

// The headers route these names through inline functions; here are the functions themselves.
#undef ibv_get_device_list
#undef ibv_query_port

namespace anyrdma::c_api {
namespace {

using verbs::provider_of;

std::span<ibv_device* const> devices_of(transport::Transport& transport) {
  verbs::CriticalSection section(transport.runtime());
  return transport.devices();
}

Result<ibv_device**> device_list(int* count) {
  const auto transport = process_transport();
  if (!transport) return transport.error();
  const std::span<ibv_device* const> devices = devices_of(**transport);
  auto* list = static_cast<ibv_device**>(std::calloc(devices.size() + 1, sizeof(void*)));
  if (list == nullptr) return errno_code(ENOMEM);
  std::ranges::copy(devices, list);
  if (count != nullptr) *count = static_cast<int>(devices.size());
  return list;
}

/// The provider of a device of ours. EINVAL: null; ENODEV: not one of ours, or gone.
Result<verbs::Provider*> provider_of_device(ibv_device* device) {
  if (device == nullptr) return errno_code(EINVAL);
  const auto transport = process_transport();
  if (!transport) return transport.error();
  if (std::ranges::count(devices_of(**transport), device) == 0) return errno_code(ENODEV);
  return &(*transport)->provider_of(device);
}

Result<int> index_of(ibv_device* device) {
  const auto transport = process_transport();
  if (!transport) return transport.error();
  const std::span<ibv_device* const> devices = devices_of(**transport);
  const auto found = std::ranges::find(devices, device);
  if (found == devices.end()) return errno_code(ENODEV);
  return static_cast<int>(found - devices.begin());
}

Result<__be64> guid_of(ibv_device* device) {
  const auto provider = provider_of_device(device);
  if (!provider) return provider.error();
  return (*provider)->device_guid(device);
}

}  // namespace
}  // namespace anyrdma::c_api

using namespace anyrdma::c_api;

extern "C" {

ibv_device** ibv_get_device_list(int* num_devices) {
  if (num_devices != nullptr) *num_devices = 0;
  return null_on_error([&] { return device_list(num_devices); });
}

void ibv_free_device_list(ibv_device** list) {
  std::free(list);
}

const char* ibv_get_device_name(ibv_device* device) {
  return device == nullptr ? nullptr : device->name;
}

__be64 ibv_get_device_guid(ibv_device* device) {
  const Result<__be64> guid = guarded([&] { return guid_of(device); });
  if (guid) return *guid;
  errno = guid.error().value();
  return 0;
}

int ibv_get_device_index(ibv_device* device) {
  const Result<int> index = guarded([&] { return index_of(device); });
  return index ? *index : fail(index.error().value());
}

ibv_context* ibv_open_device(ibv_device* device) {
  return null_on_error([&]() -> Result<ibv_context*> {
    const auto provider = provider_of_device(device);
    if (!provider) return provider.error();
    const auto context = (*provider)->open_device(device);
    if (context) {
      note_open(*context);
      note_made(Inventory::Kind::kContext, *context);
    }
    return context;
  });
}

int ibv_close_device(ibv_context* context) {
  if (context == nullptr) return fail(EINVAL);
  return minus_one_on_error([&] {
    note_closed(context);
    const Result<void> closed = provider_of(context).close_device(context);
    if (closed) note_gone(context);
    return closed;
  });
}

int ibv_query_device(ibv_context* context, ibv_device_attr* attr) {
  if (context == nullptr || attr == nullptr) return EINVAL;
  return errno_on_error([&] { return provider_of(context).query_device(context, attr); });
}

}  // extern "C"
