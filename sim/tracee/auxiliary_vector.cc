#include "sim/tracee/auxiliary_vector.h"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

namespace anyrdma::sim::tracee {
namespace {

constexpr std::uint64_t kWord = sizeof(std::uint64_t);

/// Behind the next null pointer of an array.
std::optional<std::uint64_t> behind_pointers(const Tracee& tracee, std::uint64_t at) {
  for (;;) {
    const auto pointer = tracee.peek<std::uint64_t>(at);
    if (!pointer) return std::nullopt;
    at += kWord;
    if (*pointer == 0) return at;
  }
}

}  // namespace

bool tame(const Tracee& tracee, const std::array<std::byte, 16>& random) {
  const auto registers = tracee.registers();
  if (!registers) return false;
  const auto environment = behind_pointers(tracee, registers->rsp + kWord);  // over argc
  if (!environment) return false;
  auto at = behind_pointers(tracee, *environment);
  if (!at) return false;
  for (;; *at += sizeof(Elf64_auxv_t)) {
    auto entry = tracee.peek<Elf64_auxv_t>(*at);
    if (!entry) return false;
    if (entry->a_type == AT_NULL) return true;
    if (entry->a_type == AT_SYSINFO_EHDR) {
      entry->a_type = AT_IGNORE;
      if (!tracee.poke(*at, *entry)) return false;
    }
    if (entry->a_type == AT_RANDOM && !tracee.write(entry->a_un.a_val, random)) return false;
  }
}

std::string auxiliary_vector_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/auxv", std::ios::binary);
  std::string vector(std::istreambuf_iterator<char>(file), {});
  constexpr std::uint64_t kNothing = AT_IGNORE;
  for (std::size_t at = 0; at + sizeof(Elf64_auxv_t) <= vector.size(); at += sizeof(Elf64_auxv_t)) {
    std::uint64_t kind = 0;
    std::memcpy(&kind, vector.data() + at, sizeof kind);
    if (kind == AT_SYSINFO_EHDR) std::memcpy(vector.data() + at, &kNothing, sizeof kNothing);
  }
  return vector;
}

}  // namespace anyrdma::sim::tracee
