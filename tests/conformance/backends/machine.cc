#include "tests/conformance/backends/machine.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "tests/conformance/require.h"

namespace anyrdma::conformance {

std::string MachineBackend::address(Role role) {
  static const std::map<Role, std::string> kAddresses = {
      {Role::kServer, "10.9.0.1"},    {Role::kServerOther, "10.9.0.3"},
      {Role::kClient, "10.9.0.2"},    {Role::kNobody, "10.9.0.77"},
      {Role::kDeaf, "10.9.0.9"},      {Role::kNowhere, "203.0.113.5"},
      {Role::kForeign, "203.0.113.6"}};
  return kAddresses.at(role);
}

// The kernel closes the file when no descriptor refers to it. Another one that nothing can be
// written to stays in its place, so that what is destroyed afterwards reaches nobody.
void MachineBackend::end_of_kernels(rdma_event_channel* channel) {
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  require(nothing >= 0 && ::dup2(nothing, channel->fd) >= 0, "no descriptor");
  (void)::close(nothing);
}

// Nothing is opened here: performances are forked, and the kernel takes no commands over a parent's
// descriptors (EACCES).
std::string prepare_process() {
  return std::filesystem::exists("/sys/class/infiniband/rxe0") ? ""
                                                               : "there is no Soft-RoCE device";
}

}  // namespace anyrdma::conformance
