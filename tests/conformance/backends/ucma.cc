// Our doors over the kernel's connection manager, on a Soft-RoCE device that talks to itself: two
// applications in one process. Runs in the machine of tools/vm, which rxe_machine.sh has prepared.
#include <memory>

#include "tests/conformance/backends/doors.h"
#include "tests/conformance/backends/machine.h"
#include "transport/ucma/ucma.h"

namespace anyrdma::conformance {
namespace {

using transport::ucma::Ucma;

class UcmaBackend final : public MachineBackend {
 public:
  using MachineBackend::MachineBackend;
  ~UcmaBackend() override { doors::forget_the_buried(); }

  const Calls& calls(Side side) override {
    return doors::enter((side == Side::kPassive ? server_ : client_)->transport());
  }
  void end(Side, rdma_event_channel* channel) override { doors::end(channel); }

 private:
  std::unique_ptr<Ucma> server_ = Ucma::open().value();
  std::unique_ptr<Ucma> client_ = Ucma::open().value();
};

}  // namespace

std::string_view backend_name() {
  return "ucma";
}

std::unique_ptr<Backend> make_backend(unsigned number) {
  return std::make_unique<UcmaBackend>(number);
}

}  // namespace anyrdma::conformance
