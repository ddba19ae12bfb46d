#include "verbs/c_api/testing/process.h"

#include <cerrno>
#include <utility>
#include <vector>

#include "verbs/c_api/process.h"

namespace anyrdma::c_api {
namespace {

transport::Transport* current = nullptr;
std::vector<std::shared_ptr<void>> buried;  ///< over the current transport

}  // namespace

namespace testing {

void set_process_transport(transport::Transport* transport) {
  buried.clear();
  current = transport;
}

}  // namespace testing

verbs::Result<transport::Transport*> process_transport() {
  if (current == nullptr) return verbs::errno_code(ENODEV);
  return current;
}

void bury(std::shared_ptr<void> object) {
  buried.push_back(std::move(object));
}

}  // namespace anyrdma::c_api
