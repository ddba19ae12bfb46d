// What a "process" of the C API is in the simulator: the host on whose fiber the call is made.
#include <cerrno>
#include <utility>

#include "sim/host.h"
#include "verbs/c_api/process.h"

namespace anyrdma::c_api {

// Outside of all programs there is no host and so no device.
verbs::Result<transport::Transport*> process_transport() {
  sim::Host* const host = sim::Host::current();
  if (host == nullptr) return verbs::errno_code(ENODEV);
  return &host->transport();
}

// A channel can only be destroyed on the host it was made on, or when its world has stopped; then
// nobody can be inside.
void bury(std::shared_ptr<void> object) {
  sim::Host* const host = sim::Host::current();
  if (host != nullptr) host->keep(std::move(object));
}

}  // namespace anyrdma::c_api
