#include "verbs/c_api/testing/process.h"

#include <cerrno>

#include "verbs/c_api/process.h"

namespace anyrdma::c_api {
namespace {

transport::Transport* current = nullptr;

}  // namespace

namespace testing {

void set_process_transport(transport::Transport* transport) {
  current = transport;
}

}  // namespace testing

verbs::Result<transport::Transport*> process_transport() {
  if (current == nullptr) return verbs::errno_code(ENODEV);
  return current;
}

}  // namespace anyrdma::c_api
