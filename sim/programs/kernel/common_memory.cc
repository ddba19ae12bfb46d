#include "sim/programs/kernel/common_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>

#include "sim/host.h"
#include "sim/programs/process/process.h"
#include "sim/programs/process/supervisor.h"

namespace anyrdma::sim::programs {
namespace {

/// Whether anyrdma's own libraries map the file: for the clock, for entries, or for what the
/// processes of a host know of each other's ports. Programs do not poll what is there.
bool is_own(const Thread& thread, int fd) {
  const Descriptor file = thread.borrow(fd);
  std::error_code unknown;
  const std::filesystem::path path =
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file.get()), unknown);
  if (unknown) return false;
  if (path == "/memfd:anyrdma (deleted)" || path == "/memfd:clock (deleted)") return true;
  const std::filesystem::path of_host = path.parent_path().parent_path();
  return path.filename() == "world" && of_host.filename() == thread.process().host->name() &&
         of_host.parent_path().filename() == "run";
}

bool may_run(const Process& process, const Thread& besides) {
  return std::any_of(process.threads.begin(), process.threads.end(), [&](const auto& thread) {
    return thread.get() != &besides && !thread->is_over() && !thread->waits();
  });
}

}  // namespace

void note_mapping(Thread& thread, const Call& call) {
  const auto& [address, size, rights, flags, fd, offset] = call.arguments;
  // mprotect(2) may allow writing later.
  if ((flags & MAP_SHARED) == 0 || thread.process().writes_shared) return;
  const bool anonymous = (flags & MAP_ANONYMOUS) != 0;
  if (anonymous || !is_own(thread, static_cast<int>(fd))) thread.process().writes_shared = true;
}

bool others_may_write(const Thread& thread) {
  const Process& own = thread.process();
  const auto& all = thread.supervisor().processes();
  return std::any_of(all.begin(), all.end(), [&](const auto& process) {
    if (process->status || process->host != own.host) return false;
    return (process.get() == &own || process->writes_shared) && may_run(*process, thread);
  });
}

}  // namespace anyrdma::sim::programs
