// A device that is open already, opened once more by its descriptor, and its objects by their
// handles. Those of another process are not offered: what they are lies in the memory of the
// process that made them, and no kernel stands between.
#include "verbs/c_api/import.h"

#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "verbs/c_api/c_result.h"
#include "verbs/provider.h"
#include "verbs/soft/import.h"

namespace anyrdma::c_api {
namespace {

enum class Opened { kByName, kByDescriptor };

struct OpenDevices {
  std::mutex mutex;
  std::map<ibv_context*, Opened> all;
};
OpenDevices& open_devices() {
  static auto* const devices = new OpenDevices;  // never destroyed: threads may outlive main()
  return *devices;
}

/// Whether two descriptors are the same open file, as after dup().
bool same_file(int a, int b) {
  const pid_t self = ::getpid();
  return a == b || ::syscall(SYS_kcmp, self, self, KCMP_FILE, a, b) == 0;
}

Result<ibv_context*> import_device(int descriptor) {
  if (descriptor < 0) return errno_code(EINVAL);
  OpenDevices& devices = open_devices();
  const std::lock_guard lock(devices.mutex);
  for (const auto& [context, how] : devices.all) {
    if (!same_file(context->cmd_fd, descriptor)) continue;
    const Result<ibv_context*> again = verbs::provider_of(context).open_device(context->device);
    if (!again) return again.error();
    (*again)->cmd_fd = descriptor;
    devices.all.emplace(*again, Opened::kByDescriptor);
    return *again;
  }
  return errno_code(EOPNOTSUPP);
}

}  // namespace

void note_open(ibv_context* context) {
  OpenDevices& devices = open_devices();
  const std::lock_guard lock(devices.mutex);
  devices.all.emplace(context, Opened::kByName);
}

void note_closed(ibv_context* context) {
  OpenDevices& devices = open_devices();
  const std::lock_guard lock(devices.mutex);
  const auto found = devices.all.find(context);
  if (found == devices.all.end()) return;
  if (found->second == Opened::kByDescriptor) ::close(context->cmd_fd);
  devices.all.erase(found);
}

}  // namespace anyrdma::c_api

using namespace anyrdma::c_api;

extern "C" {

/// EOPNOTSUPP: not the descriptor of a device that this process has open.
ibv_context* ibv_import_device(int cmd_fd) {
  return null_on_error([&] { return import_device(cmd_fd); });
}

/// Errors of all three: EINVAL: no such handle; EOPNOTSUPP: not a software device.
ibv_pd* ibv_import_pd(ibv_context* context, std::uint32_t pd_handle) {
  return null_on_error([&]() -> Result<ibv_pd*> {
    if (context == nullptr) return errno_code(EINVAL);
    return anyrdma::verbs::soft::import_pd(context, pd_handle);
  });
}

ibv_mr* ibv_import_mr(ibv_pd* pd, std::uint32_t mr_handle) {
  return null_on_error([&]() -> Result<ibv_mr*> {
    if (pd == nullptr) return errno_code(EINVAL);
    return anyrdma::verbs::soft::import_mr(pd, mr_handle);
  });
}

ibv_dm* ibv_import_dm(ibv_context* context, std::uint32_t dm_handle) {
  return null_on_error([&]() -> Result<ibv_dm*> {
    if (context == nullptr) return errno_code(EINVAL);
    return anyrdma::verbs::soft::import_dm(context, dm_handle);
  });
}

void ibv_unimport_pd(ibv_pd* pd) {
  if (pd != nullptr) (void)ibv_dealloc_pd(pd);
}

void ibv_unimport_mr(ibv_mr* mr) {
  delete mr;
}

void ibv_unimport_dm(ibv_dm* dm) {
  if (dm != nullptr) (void)ibv_free_dm(dm);
}

}  // extern "C"
