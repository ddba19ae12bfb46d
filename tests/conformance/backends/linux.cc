// Linux: librdmacm and libibverbs of the system over its kernel, two applications in one process.
// Nothing of ours is in it but the scenarios.
#include "tests/conformance/backends/machine.h"
#include "tests/conformance/linked_calls.h"

namespace anyrdma::conformance {
namespace {

class LinuxBackend final : public MachineBackend {
 public:
  const Calls& calls(Side) override { return linked_calls(); }

  void end(Side, rdma_event_channel* channel) override { end_of_kernels(channel); }
};

}  // namespace

std::string_view backend_name() {
  return "linux";
}

std::unique_ptr<Backend> make_backend(unsigned) {
  return std::make_unique<LinuxBackend>();
}

}  // namespace anyrdma::conformance
