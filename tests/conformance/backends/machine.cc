#include "tests/conformance/backends/machine.h"

#include <filesystem>
#include <map>

namespace anyrdma::conformance {

std::string MachineBackend::address(Role role) {
  static const std::map<Role, std::string> kAddresses = {
      {Role::kServer, "10.9.0.1"},    {Role::kServerOther, "10.9.0.3"},
      {Role::kClient, "10.9.0.2"},    {Role::kNobody, "10.9.0.77"},
      {Role::kDeaf, "10.9.0.9"},      {Role::kNowhere, "203.0.113.5"},
      {Role::kForeign, "203.0.113.6"}};
  return kAddresses.at(role);
}

// Nothing is opened here: performances are forked, and the kernel takes no commands over a parent's
// descriptors (EACCES).
std::string prepare_process() {
  return std::filesystem::exists("/sys/class/infiniband/rxe0") ? ""
                                                               : "there is no Soft-RoCE device";
}

}  // namespace anyrdma::conformance
