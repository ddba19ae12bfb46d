#include "sim/nic.h"

#include <cerrno>

#include "sim/host.h"
#include "sim/world.h"

namespace anyrdma::sim {

bool Nic::take(const Host& from, verbs::soft::PacketPtr&& packet) {
  host_.world().drop(host_, &from, DropCause::kNoDevice, *packet);
  return false;
}

verbs::Result<void> Nic::change(const transport::soft::DeviceChange& /*change*/) {
  return verbs::errno_code(ENODEV);
}

verbs::Result<void> Nic::bring_back(bool /*new_guid*/) {
  return verbs::errno_code(ENODEV);
}

}  // namespace anyrdma::sim
