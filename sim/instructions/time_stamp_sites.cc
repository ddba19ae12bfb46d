#include "sim/instructions/time_stamp_sites.h"

#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

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

/// Where the bytes of such an instruction stand, whatever they are there, from `at` on.
std::size_t find_bytes(Bytes code, std::size_t at) {
  const std::string_view text(reinterpret_cast<const char*>(code.data()), code.size());
  return std::min(text.find("\x0f\x31", at), text.find("\x0f\x01\xf9", at));
}

/// The length of the instruction at `at` if whoever begins at `from` comes to it and it is one that
/// we look for; else 0.
std::size_t confirm(Bytes code, std::size_t from, std::size_t at) {
  while (from < at) {
    const std::size_t length = length_of(code.subspan(from));
    if (length == 0) return 0;
    from += length;
  }
  if (from != at) return 0;
  const std::size_t length = length_of(code.subspan(at));
  return length != 0 && reads_time_stamp(code.subspan(at, length)) ? length : 0;
}

}  // namespace

std::vector<TimeStampSite> time_stamp_sites(int fd) {
  std::vector<TimeStampSite> sites;
  const File file(fd);
  if (!file.has_functions()) return sites;
  for (const Segment& segment : file.code()) {
    const Bytes code = file.bytes(segment);
    for (std::size_t at = find_bytes(code, 0); at < code.size(); at = find_bytes(code, at + 1)) {
      const auto function = file.function_at(segment.address + at);
      if (!function || *function < segment.address) continue;
      const std::size_t length = confirm(code, *function - segment.address, at);
      if (length == 0) continue;
      sites.push_back({segment.offset + at, static_cast<std::uint8_t>(length)});
    }
  }
  return sites;
}

}  // namespace anyrdma::sim::instructions
