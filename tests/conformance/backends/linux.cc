// Linux: librdmacm and libibverbs of the system over its kernel, two applications in one process.
// Nothing of ours is in it but the scenarios.
#include <fcntl.h>
#include <unistd.h>

#include "tests/conformance/backends/machine.h"
#include "tests/conformance/linked_calls.h"
#include "tests/conformance/require.h"

namespace anyrdma::conformance {
namespace {

class LinuxBackend final : public MachineBackend {
 public:
  const Calls& calls(Side) override { return linked_calls(); }

  // The kernel closes the file when no descriptor refers to it. Another one that nothing can be
  // written to stays in its place, so that what is destroyed afterwards reaches nobody.
  void end(Side, rdma_event_channel* channel) override {
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    require(nothing >= 0 && ::dup2(nothing, channel->fd) >= 0, "no descriptor");
    (void)::close(nothing);
  }
};

}  // namespace

std::string_view backend_name() {
  return "linux";
}

std::unique_ptr<Backend> make_backend(unsigned) {
  return std::make_unique<LinuxBackend>();
}

}  // namespace anyrdma::conformance
