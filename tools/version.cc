#include "tools/version.h"

#include "tools/commit.h"
#include "verbs/version.h"

namespace anyrdma::tools {

std::string version_line() {
  const std::string commit = kCommit;
  return std::string("anyrdma ") + verbs::kVersion + (commit.empty() ? "" : " (" + commit + ")") +
         ", a drop-in for rdma-core 44";
}

}  // namespace anyrdma::tools
