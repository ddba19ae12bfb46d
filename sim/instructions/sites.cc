#include "sim/instructions/sites.h"

#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>

#include "sim/instructions/instruction.h"

namespace anyrdma::sim::instructions {
namespace {

using Bytes = std::span<const std::uint8_t>;

/// What is loaded to be executed.
struct Segment {
  std::uint64_t address = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

class File {
 public:
  explicit File(int fd) {
    struct stat status {};
    if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) return;
    size_ = static_cast<std::size_t>(status.st_size);
    mapped_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapped_ == MAP_FAILED) return;
    elf_version(EV_CURRENT);
    elf_.reset(::elf_memory(static_cast<char*>(mapped_), size_));
    GElf_Ehdr header{};
    if (elf_ == nullptr || gelf_getehdr(elf_.get(), &header) == nullptr ||
        header.e_machine != EM_X86_64)
      return;
    frames_.reset(::dwarf_getcfi_elf(elf_.get()));
  }
  ~File() {
    frames_.reset();
    elf_.reset();
    if (mapped_ != MAP_FAILED) ::munmap(mapped_, size_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  [[nodiscard]] bool has_functions() const { return frames_ != nullptr; }
  [[nodiscard]] std::vector<Segment> code() const {
    std::vector<Segment> all;
    std::size_t count = 0;
    if (::elf_getphdrnum(elf_.get(), &count) != 0) return all;
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Phdr header{};
      if (gelf_getphdr(elf_.get(), static_cast<int>(i), &header) == nullptr) continue;
      if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
      if (header.p_offset > size_ || header.p_filesz > size_ - header.p_offset) continue;
      all.push_back({header.p_vaddr, header.p_offset, header.p_filesz});
    }
    return all;
  }
  [[nodiscard]] Bytes bytes(const Segment& segment) const {
    return Bytes(static_cast<const std::uint8_t*>(mapped_) + segment.offset, segment.size);
  }
  /// Where the function begins that has `address`.
  [[nodiscard]] std::optional<std::uint64_t> function_at(std::uint64_t address) const {
    Dwarf_Frame* found = nullptr;
    if (::dwarf_cfi_addrframe(frames_.get(), address, &found) != 0) return std::nullopt;
    const std::unique_ptr<Dwarf_Frame, void (*)(void*)> frame(found, std::free);
    Dwarf_Addr begin = 0;
    Dwarf_Addr end = 0;
    bool of_signal = false;
    if (::dwarf_frame_info(frame.get(), &begin, &end, &of_signal) < 0) return std::nullopt;
    return begin;
  }

 private:
  struct End {
    void operator()(Elf* elf) const { ::elf_end(elf); }
    void operator()(Dwarf_CFI* frames) const { ::dwarf_cfi_end(frames); }
  };
  std::size_t size_ = 0;
  void* mapped_ = MAP_FAILED;
  std::unique_ptr<Elf, End> elf_;
  std::unique_ptr<Dwarf_CFI, End> frames_;
};

/// Where the opcode of such an instruction may stand, whatever it is there, from `at` on.
std::size_t find_opcode(Bytes code, std::size_t at) {
  constexpr std::uint8_t kEscape = 0x0f;
  for (;; ++at) {
    const Bytes rest = code.subspan(std::min(at, code.size()));
    const void* const found =
        rest.empty() ? nullptr : std::memchr(rest.data(), kEscape, rest.size());
    if (found == nullptr) return code.size();
    at = static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - code.data());
    const std::uint8_t second = at + 1 < code.size() ? code[at + 1] : 0;
    const std::uint8_t third = at + 2 < code.size() ? code[at + 2] : 0;
    if (second == 0x31 || second == 0xa2 || (second == 0x01 && third == 0xf9) ||
        (second == 0xc7 && third >= 0xf0))
      return at;
  }
}

/// The instruction that has the byte at `at`, if whoever begins at `from` comes to it; else
/// nothing.
Bytes instruction_with(Bytes code, std::size_t from, std::size_t at) {
  while (from <= at) {
    const std::size_t length = length_of(code.subspan(from));
    if (length == 0) return {};
    if (from + length > at) return code.subspan(from, length);
    from += length;
  }
  return {};
}

/// Without its place. nullopt: it stays as it is.
std::optional<Site> site_of(Bytes instruction) {
  Site site{.offset = 0, .length = static_cast<std::uint8_t>(instruction.size())};
  if (reads_time_stamp(instruction)) return site;
  if (asks_for_identity(instruction)) {
    site.kind = Site::Kind::kIdentity;
    return site;
  }
  const auto chance = asks_for_chance(instruction);
  const auto target = chance ? chance : asks_for_processor(instruction);
  if (!target) return std::nullopt;
  site.kind = chance ? Site::Kind::kChance : Site::Kind::kProcessor;
  site.target = *target;
  return site;
}

}  // namespace

std::vector<Site> sites_in(int fd) {
  std::vector<Site> sites;
  const File file(fd);
  if (!file.has_functions()) return sites;
  for (const Segment& segment : file.code()) {
    const Bytes code = file.bytes(segment);
    for (std::size_t at = find_opcode(code, 0); at < code.size(); at = find_opcode(code, at + 1)) {
      const auto function = file.function_at(segment.address + at);
      if (!function || *function < segment.address) continue;
      const Bytes found = instruction_with(code, *function - segment.address, at);
      auto site = site_of(found);
      if (!site) continue;
      site->offset = segment.offset + static_cast<std::uint64_t>(found.data() - code.data());
      sites.push_back(*site);
    }
  }
  return sites;
}

}  // namespace anyrdma::sim::instructions
