#include "sim/programs/syscalls/new_code.h"

#include <sys/auxv.h>
#include <sys/mman.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

#include "sim/programs/kernel/common_memory.h"
#include "sim/programs/kernel/kernel.h"
#include "sim/programs/kernel/memory_changes.h"
#include "sim/programs/process/process.h"
#include "sim/programs/process/supervisor.h"
#include "sim/tracee/auxiliary_vector.h"

namespace anyrdma::sim::programs {
namespace {

void remark_on_code(Thread& thread, const std::string& file) {
  thread.supervisor().remark(
      file +
      " cannot be read: if its code uses RDRAND, or RDTSC on a machine that cannot trap it, the "
      "run may be irreproducible");
}

void map_code(Thread& thread, const Call& call) {
  const auto& [address, size, rights, flags, fd, offset] = call.arguments;
  if ((flags & MAP_ANONYMOUS) != 0 || !thread.process().code || thread.process().is_static) return;
  const Descriptor file = thread.borrow(static_cast<int>(fd));
  if (!file || !thread.process().code->wants(file)) return;
  const auto begin = thread.finish_call();
  constexpr long kErrorsEnd = -4095;
  if (!begin || (*begin < 0 && *begin >= kErrorsEnd)) return;
  const auto from = static_cast<std::uint64_t>(*begin);
  const bool done = thread.process().code->replace(thread.tracee(),
                                                   {.begin = from,
                                                    .end = from + size,
                                                    .offset = offset,
                                                    .shared = (flags & MAP_TYPE) != MAP_PRIVATE},
                                                   file);
  std::error_code unknown;
  const std::string link = "/proc/self/fd/" + std::to_string(file.get());
  if (!done) remark_on_code(thread, std::filesystem::read_symlink(link, unknown));
}

}  // namespace

void look_at_new_program(Thread& thread) {
  // The kernel says where it has loaded the dynamic loader.
  const std::string vector = tracee::auxiliary_vector_of(thread.process().pid);
  thread.process().is_static = !vector.empty() && tracee::entry_of(vector, AT_BASE) == 0;
  look_at_new_code(thread);
}

void look_at_new_code(Thread& thread) {
  auto& code = thread.process().code;
  if (!code) return;
  for (const std::string& file : code->look(thread.tracee())) remark_on_code(thread, file);
}

Outcome on_mmap(Thread& thread, const Call& call) {
  const auto& [address, size, rights, flags, fd, offset] = call.arguments;
  note_mapping(thread, call);
  HugePages& huge = thread.supervisor().kernel().huge_pages;
  const bool of_file = (flags & MAP_ANONYMOUS) == 0 && huge.has_files();
  if ((flags & MAP_HUGETLB) != 0 || (of_file && huge.is_huge(thread.borrow(static_cast<int>(fd)))))
    return huge.on_mmap(thread, call);
  if (concerns_regions(thread, call) && (rights & PROT_EXEC) == 0)
    return map_over_regions(thread, call);
  if ((rights & PROT_EXEC) != 0) map_code(thread, call);
  return Outcome::made();
}

Outcome on_mprotect(Thread& thread, const Call& /*call*/) {
  if (!thread.process().is_static && thread.finish_call()) look_at_new_code(thread);
  return Outcome::made();
}

}  // namespace anyrdma::sim::programs
