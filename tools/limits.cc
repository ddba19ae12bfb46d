#include "tools/limits.h"

#include <unistd.h>

#include <csignal>
#include <new>
#include <string_view>

namespace anyrdma::tools {
namespace {

using Handler = void (*)(int);
Handler before = SIG_DFL;

/// Whoever asked may be a fiber or have locks: nothing is destroyed. The kernel ends the programs,
/// and the next run removes the directory of this one.
void end_without_memory() {
  constexpr std::string_view kSentence =
      "anyrdma: the system gives no more memory. Raise the limit (ulimit -v, cgroup), or use fewer "
      "hosts, programs or jobs.\n";
  (void)!::write(STDERR_FILENO, kSentence.data(), kSentence.size());
  ::_exit(1);
}

}  // namespace

void end_at_limits() {
  std::set_new_handler(end_without_memory);
  const Handler found = ::signal(SIGXFSZ, SIG_IGN);
  before = found == SIG_ERR ? SIG_DFL : found;
}

void give_back_file_limit() {
  ::signal(SIGXFSZ, before);
}

}  // namespace anyrdma::tools
