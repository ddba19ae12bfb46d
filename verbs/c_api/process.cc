#include "verbs/c_api/process.h"

#include <cerrno>
#include <cstdio>

namespace anyrdma::c_api {

verbs::Result<transport::Transport*> process_transport() {
  static const bool said = [] {
    std::fputs("anyrdma: this build has no fabric between processes.\n", stderr);
    return true;
  }();
  (void)said;
  return verbs::errno_code(ENODEV);
}

}  // namespace anyrdma::c_api
