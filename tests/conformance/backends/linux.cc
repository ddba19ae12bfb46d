// Linux: librdmacm and libibverbs of the system over its kernel, two applications in one process.
// Nothing of ours is in it but the scenarios.
#include <sys/utsname.h>

#include <filesystem>

#include "tests/conformance/backends/machine.h"
#include "tests/conformance/linked_calls.h"

namespace anyrdma::conformance {
namespace {

class LinuxBackend final : public MachineBackend {
 public:
  using MachineBackend::MachineBackend;

  const Calls& calls(Side) override { return linked_calls(); }

  void end(Side, rdma_event_channel* channel) override { end_of_kernels(channel); }
};

}  // namespace

std::string_view backend_name() {
  if (std::filesystem::exists("/sys/class/infiniband/siw0")) return "linux-siw";
  utsname system{};
  if (::uname(&system) != 0) return "linux";
  const std::string_view release = system.release;
  if (release.starts_with("6.1.")) return "linux";
  return release.starts_with("6.12.") ? "linux-6.12" : "linux-unstable";
}

std::unique_ptr<Backend> make_backend(unsigned number) {
  return std::make_unique<LinuxBackend>(number);
}

}  // namespace anyrdma::conformance
