// Linux, on a Soft-RoCE device that talks to itself: two applications over the kernel's connection
// manager, in one process. Runs in the machine of tools/vm, which rxe_machine.sh has prepared.
#include <filesystem>
#include <map>

#include "tests/conformance/backends/realtime.h"
#include "transport/ucma/ucma.h"

namespace anyrdma::conformance {
namespace {

using transport::ucma::Ucma;

class RxeBackend final : public RealtimeBackend {
 public:
  transport::Transport& transport(Side side) override {
    return (side == Side::kPassive ? server_ : client_)->transport();
  }

  std::string address(Role role) override {
    static const std::map<Role, std::string> kAddresses = {
        {Role::kServer, "10.9.0.1"},    {Role::kServerOther, "10.9.0.3"},
        {Role::kClient, "10.9.0.2"},    {Role::kNobody, "10.9.0.77"},
        {Role::kDeaf, "10.9.0.9"},      {Role::kNowhere, "203.0.113.5"},
        {Role::kForeign, "203.0.113.6"}};
    return kAddresses.at(role);
  }

 private:
  std::unique_ptr<Ucma> server_ = Ucma::open().value();
  std::unique_ptr<Ucma> client_ = Ucma::open().value();
};

}  // namespace

std::string_view backend_name() {
  return "rxe";
}

// Nothing is opened here: performances are forked, and the kernel takes no commands over a parent's
// descriptors (EACCES).
std::string prepare_process() {
  return std::filesystem::exists("/sys/class/infiniband/rxe0") ? ""
                                                               : "there is no Soft-RoCE device";
}

std::unique_ptr<Backend> make_backend(unsigned) {
  return std::make_unique<RxeBackend>();
}

}  // namespace anyrdma::conformance
