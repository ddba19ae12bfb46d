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

/// The kernel's own code, which shows the machine's time, and what rseq(2) can do, which is refused
/// and which newer kernels tell.
bool is_hidden(std::uint64_t kind) {
  constexpr std::uint64_t kFeaturesOfRseq = 27;  // AT_RSEQ_FEATURE_SIZE
  constexpr std::uint64_t kAlignmentOfRseq = 28;
  return kind == AT_SYSINFO_EHDR || kind == kFeaturesOfRseq || kind == kAlignmentOfRseq;
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
    if (is_hidden(entry->a_type)) {
      entry->a_type = AT_IGNORE;
      if (!tracee.poke(*at, *entry)) return false;
    }
    if (entry->a_type == AT_RANDOM && !tracee.write(entry->a_un.a_val, random)) return false;
  }
}

std::string tamed(std::string vector) {
  constexpr std::uint64_t kNothing = AT_IGNORE;
  for (std::size_t at = 0; at + sizeof(Elf64_auxv_t) <= vector.size(); at += sizeof(Elf64_auxv_t)) {
    Elf64_auxv_t entry{};
    std::memcpy(&entry, vector.data() + at, sizeof entry);
    if (is_hidden(entry.a_type)) std::memcpy(vector.data() + at, &kNothing, sizeof kNothing);
  }
  return vector;
}

std::string auxiliary_vector_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/auxv", std::ios::binary);
  return tamed(std::string(std::istreambuf_iterator<char>(file), {}));
}

std::uint64_t entry_of(const std::string& vector, std::uint64_t kind) {
  for (std::size_t at = 0; at + sizeof(Elf64_auxv_t) <= vector.size(); at += sizeof(Elf64_auxv_t)) {
    Elf64_auxv_t entry;
    std::memcpy(&entry, vector.data() + at, sizeof entry);
    if (entry.a_type == kind) return entry.a_un.a_val;
  }
  return 0;
}

}  // namespace anyrdma::sim::tracee
