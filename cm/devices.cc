#include "cm/devices.h"

namespace anyrdma::cm {

std::vector<ibv_context*> devices(transport::Transport& transport) {
  verbs::CriticalSection section(transport.runtime());
  std::vector<ibv_context*> contexts;
  for (ibv_device* device : transport.devices()) contexts.push_back(transport.context_of(device));
  return contexts;
}

}  // namespace anyrdma::cm
