#include "sim/debug/core/core_file.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>

#include "transport/realtime/descriptor.h"

namespace anyrdma::sim::debug {
namespace {

using transport::realtime::Descriptor;

constexpr std::size_t kPagesAtOnce = 256;

std::error_code last_error() {
  return {errno, std::generic_category()};
}

std::string file_of(pid_t pid, const char* name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

std::error_code write_at(const Descriptor& file, std::string_view bytes, std::uint64_t at) {
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return last_error();
    bytes.remove_prefix(static_cast<std::size_t>(written));
    at += static_cast<std::uint64_t>(written);
  }
  return {};
}

/// The memory of a process.
class Memory {
 public:
  explicit Memory(pid_t pid)
      : bytes_(::open(file_of(pid, "mem").c_str(), O_RDONLY | O_CLOEXEC)),
        pages_(::open(file_of(pid, "pagemap").c_str(), O_RDONLY | O_CLOEXEC)) {}
  [[nodiscard]] bool is_open() const { return bytes_.get() >= 0; }

  /// At most kPagesAtOnce pages; what cannot be read is 0.
  [[nodiscard]] std::string read(std::uint64_t address, std::size_t size) const {
    std::string bytes(size, '\0');
    for (std::size_t done = 0; done < size;) {
      const ssize_t got = ::pread(bytes_.get(), bytes.data() + done, size - done,
                                  static_cast<off_t>(address + done));
      if (got < 0 && errno == EINTR) continue;
      // A page behind the end of a file, for example.
      done += got > 0 ? static_cast<std::size_t>(got) : kPageBytes - (address + done) % kPageBytes;
    }
    return bytes;
  }
  /// Of memory without a file: whether any of these pages was ever written to.
  [[nodiscard]] bool has_pages(std::uint64_t address, std::size_t size) const {
    constexpr std::uint64_t kPresentOrSwapped = 3ull << 62;
    std::uint64_t all[kPagesAtOnce];
    const std::size_t bytes = size / kPageBytes * sizeof all[0];
    if (::pread(pages_.get(), all, bytes,
                static_cast<off_t>(address / kPageBytes * sizeof all[0])) !=
        static_cast<ssize_t>(bytes))
      return true;
    return std::any_of(all, all + size / kPageBytes,
                       [](std::uint64_t each) { return (each & kPresentOrSwapped) != 0; });
  }

 private:
  Descriptor bytes_;
  Descriptor pages_;
};

/// Without pages that are 0.
std::error_code write_pages(const Descriptor& file, std::string_view bytes, std::uint64_t at) {
  const auto is_empty = [&](std::size_t page) {
    const std::string_view one = bytes.substr(page, kPageBytes);
    return one.find_first_not_of('\0') == std::string_view::npos;
  };
  for (std::size_t begin = 0; begin < bytes.size();) {
    std::size_t end = begin;
    while (end < bytes.size() && !is_empty(end)) end += kPageBytes;
    if (const auto error = write_at(file, bytes.substr(begin, end - begin), at + begin))
      return error;
    begin = end + kPageBytes;
  }
  return {};
}

std::error_code copy(const Memory& memory, const Mapping& mapping, const Elf64_Phdr& segment,
                     const Descriptor& file) {
  const bool without_file = mapping.inode == 0 && !mapping.shared;
  if (without_file && !mapping.touched) return {};
  for (std::uint64_t done = 0; done < segment.p_filesz;) {
    const auto size = static_cast<std::size_t>(
        std::min<std::uint64_t>(kPagesAtOnce * kPageBytes, segment.p_filesz - done));
    const std::uint64_t address = segment.p_vaddr + done;
    if (!without_file || memory.has_pages(address, size)) {
      if (const auto error = write_pages(file, memory.read(address, size), segment.p_offset + done))
        return error;
    }
    done += size;
  }
  return {};
}

Elf64_Phdr segment_of(const Mapping& mapping) {
  Elf64_Phdr segment{};
  segment.p_type = PT_LOAD;
  segment.p_flags = (mapping.readable ? PF_R : 0u) | (mapping.writable ? PF_W : 0u) |
                    (mapping.executable ? PF_X : 0u);
  segment.p_vaddr = mapping.begin;
  segment.p_memsz = mapping.end - mapping.begin;
  segment.p_align = kPageBytes;
  switch (kept_of(mapping)) {
    case Kept::kNothing:
      break;
    case Kept::kHeader:
      segment.p_filesz = std::min<std::uint64_t>(kPageBytes, segment.p_memsz);
      break;
    case Kept::kAll:
      segment.p_filesz = segment.p_memsz;
      break;
  }
  return segment;
}

Elf64_Ehdr head_of(std::size_t segments) {
  Elf64_Ehdr head{};
  std::memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_ident[EI_DATA] = ELFDATA2LSB;
  head.e_ident[EI_VERSION] = EV_CURRENT;
  head.e_type = ET_CORE;
  head.e_machine = EM_X86_64;
  head.e_version = EV_CURRENT;
  head.e_phoff = sizeof head;
  head.e_ehsize = sizeof head;
  head.e_phentsize = sizeof(Elf64_Phdr);
  head.e_phnum = static_cast<Elf64_Half>(segments);
  return head;
}

std::error_code write_to(const Descriptor& file, const CoreProcess& process) {
  std::ifstream text(file_of(process.pid, "smaps"), std::ios::binary);
  std::vector<Mapping> mappings =
      parse_mappings(std::string(std::istreambuf_iterator<char>(text), {}));
  const Memory memory(process.pid);
  if (mappings.empty() || !memory.is_open())
    return std::make_error_code(std::errc::no_such_process);
  constexpr std::size_t kSegmentsMax = PN_XNUM - 2;
  mappings.resize(std::min(mappings.size(), kSegmentsMax));
  const std::string notes = notes_of(process, mappings);
  std::vector<Elf64_Phdr> segments(1);
  std::uint64_t at = sizeof(Elf64_Ehdr) + (mappings.size() + 1) * sizeof(Elf64_Phdr);
  segments[0].p_type = PT_NOTE;
  segments[0].p_offset = at;
  segments[0].p_filesz = notes.size();
  segments[0].p_align = 4;
  at += notes.size();
  at = (at + kPageBytes - 1) / kPageBytes * kPageBytes;
  for (const Mapping& each : mappings) {
    segments.push_back(segment_of(each));
    segments.back().p_offset = at;
    at += segments.back().p_filesz;
  }
  if (::ftruncate(file.get(), static_cast<off_t>(at)) != 0) return last_error();
  const Elf64_Ehdr head = head_of(segments.size());
  std::string begin(reinterpret_cast<const char*>(&head), sizeof head);
  begin.append(reinterpret_cast<const char*>(segments.data()),
               segments.size() * sizeof(Elf64_Phdr));
  if (const auto error = write_at(file, begin + notes, 0)) return error;
  for (std::size_t i = 0; i < mappings.size(); ++i) {
    if (const auto error = copy(memory, mappings[i], segments[i + 1], file)) return error;
  }
  return {};
}

}  // namespace

std::error_code write_core(const std::filesystem::path& path, const CoreProcess& process) {
  constexpr mode_t kOwner = 0600;  // as the kernel's
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kOwner));
  if (file.get() < 0) return last_error();
  const std::error_code error = write_to(file, process);
  if (error) ::unlink(path.c_str());
  return error;
}

}  // namespace anyrdma::sim::debug
