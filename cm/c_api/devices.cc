// The devices that ids may be bound to.
#include "cm/devices.h"

#include <rdma/rdma_cma.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "verbs/c_api/c_result.h"
#include "verbs/c_api/process.h"

using namespace anyrdma::c_api;

extern "C" {

ibv_context** rdma_get_devices(int* num_devices) {
  if (num_devices != nullptr) *num_devices = 0;
  return null_on_error([&]() -> Result<ibv_context**> {
    const auto transport = process_transport();
    if (!transport) return transport.error();
    const std::vector<ibv_context*> found = anyrdma::cm::devices(**transport);
    auto** list = static_cast<ibv_context**>(std::calloc(found.size() + 1, sizeof(void*)));
    if (list == nullptr) return errno_code(ENOMEM);
    std::ranges::copy(found, list);  // the null at the end is there already
    if (num_devices != nullptr) *num_devices = static_cast<int>(found.size());
    return list;
  });
}

void rdma_free_devices(ibv_context** list) {
  std::free(list);  // the contexts are everybody's and stay
}

}  // extern "C"
