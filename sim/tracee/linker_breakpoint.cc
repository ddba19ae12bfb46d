#include "sim/tracee/linker_breakpoint.h"

#include <elf.h>
#include <link.h>

#include <string>

#include "sim/tracee/auxiliary_vector.h"

namespace anyrdma::sim::tracee {
namespace {

/// The address of the program's dynamic section, as it is loaded. 0: it has none.
std::uint64_t dynamic_section_of(const Tracee& tracee) {
  const std::string vector = auxiliary_vector_of(tracee.tid());
  const std::uint64_t headers = entry_of(vector, AT_PHDR);
  const std::uint64_t count = entry_of(vector, AT_PHNUM);
  std::uint64_t bias = 0;
  std::uint64_t dynamic = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto header = tracee.peek<Elf64_Phdr>(headers + i * sizeof(Elf64_Phdr));
    if (!header) return 0;
    if (header->p_type == PT_PHDR) bias = headers - header->p_vaddr;
    if (header->p_type == PT_DYNAMIC) dynamic = header->p_vaddr;
  }
  return dynamic == 0 ? 0 : bias + dynamic;
}

}  // namespace

std::optional<std::uint64_t> linker_breakpoint_of(const Tracee& tracee) {
  std::uint64_t at = dynamic_section_of(tracee);
  if (at == 0) return std::nullopt;
  for (;; at += sizeof(Elf64_Dyn)) {
    const auto entry = tracee.peek<Elf64_Dyn>(at);
    if (!entry || entry->d_tag == DT_NULL) return std::nullopt;
    if (entry->d_tag != DT_DEBUG) continue;
    const auto debug = tracee.peek<r_debug>(entry->d_un.d_ptr);
    if (!debug || debug->r_brk == 0) return std::nullopt;
    return debug->r_brk;
  }
}

}  // namespace anyrdma::sim::tracee
