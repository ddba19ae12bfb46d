#include "tools/rxe.h"

#include <cstdio>

#include "transport/rxe/link.h"

namespace anyrdma::tools {
namespace {

Exit outcome(const verbs::Result<void>& result, const RxeOptions& options) {
  if (result) return Exit::kOk;
  std::fprintf(stderr, "anyrdma: %s\n",
               transport::rxe::explain(result.error(), options.link, options.interface).c_str());
  return Exit::kFailed;
}

}  // namespace

Exit rxe_add(const RxeOptions& options) {
  return outcome(transport::rxe::add_link(options.link, options.interface), options);
}

Exit rxe_del(const RxeOptions& options) {
  return outcome(transport::rxe::remove_link(options.link), options);
}

Exit rxe_show() {
  const auto links = transport::rxe::links();
  if (!links) return outcome(links.error(), {});
  for (const transport::rxe::LinkInfo& link : *links) {
    std::printf("%s on %s\n", link.name.c_str(), link.interface.c_str());
  }
  return Exit::kOk;
}

}  // namespace anyrdma::tools
