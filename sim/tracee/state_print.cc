#include "sim/tracee/state_print.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cinttypes>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "transport/realtime/descriptor.h"

namespace anyrdma::sim::tracee {
namespace {

using transport::realtime::Descriptor;

constexpr std::uint64_t kPage = 4096;
constexpr std::size_t kAtOnce = 64;  // pages

/// What is reserved by the terabyte, as a sanitizer's shadow, follows from the rest.
constexpr std::uint64_t kLongest = 1ull << 35;

class Print {
 public:
  void add(std::uint64_t word) {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
    value_ = std::rotl((value_ ^ word) * kOdd, 29);
  }
  /// Whole words.
  void add(std::span<const std::byte> bytes) {
    for (std::size_t at = 0; at + sizeof(std::uint64_t) <= bytes.size();
         at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, sizeof word);
      add(word);
    }
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

class Memory {
 public:
  explicit Memory(pid_t tid)
      : tid_(tid),
        pages_(
            ::open(("/proc/" + std::to_string(tid) + "/pagemap").c_str(), O_RDONLY | O_CLOEXEC)) {}

  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(pages_); }

  /// What was never touched is zero, and would be touched by being read.
  void add_to(Print& print, std::uint64_t begin, std::uint64_t end) {
    constexpr std::uint64_t kPresent = 3ull << 62;  // in memory, or swapped
    std::array<std::uint64_t, kAtOnce> about;
    for (std::uint64_t at = begin; at < end; at += kAtOnce * kPage) {
      const auto count = std::min<std::uint64_t>(kAtOnce, (end - at) / kPage);
      const auto size = static_cast<ssize_t>(count * sizeof about[0]);
      if (::pread(pages_.get(), about.data(), static_cast<std::size_t>(size),
                  static_cast<off_t>(at / kPage * sizeof about[0])) != size)
        continue;
      for (std::uint64_t first = 0; first < count;) {
        std::uint64_t past = first;
        while (past < count && (about[past] & kPresent) != 0) ++past;
        if (past != first) add_pages(print, at + first * kPage, past - first);
        first = past + 1;
      }
    }
  }

 private:
  void add_pages(Print& print, std::uint64_t address, std::uint64_t count) {
    const iovec local{bytes_.data(), count * kPage};
    const iovec remote{reinterpret_cast<void*>(address), count * kPage};
    const ssize_t size = ::process_vm_readv(tid_, &local, 1, &remote, 1, 0);
    print.add(address);
    if (size > 0) print.add(std::span(bytes_).first(static_cast<std::size_t>(size)));
  }

  pid_t tid_;
  Descriptor pages_;
  std::vector<std::byte> bytes_ = std::vector<std::byte>(kAtOnce * kPage);
};

void add_wide_registers(Print& print, pid_t tid) {
  std::array<std::byte, 16384> bytes{};
  iovec all{bytes.data(), bytes.size()};
  if (::ptrace(PTRACE_GETREGSET, tid, NT_X86_XSTATE, &all) == 0)
    print.add(std::span(bytes).first(all.iov_len));
}

}  // namespace

std::optional<std::uint64_t> state_print(pid_t tid) {
  Memory memory(tid);
  std::ifstream maps("/proc/" + std::to_string(tid) + "/maps");
  if (!memory || !maps) return std::nullopt;
  Print print;
  for (std::string line; std::getline(maps, line);) {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    char rights[5]{};
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s", &begin, &end, rights) != 3)
      continue;
    if (rights[1] == 'w' && end - begin <= kLongest) memory.add_to(print, begin, end);
  }
  add_wide_registers(print, tid);
  return print.value();
}

}  // namespace anyrdma::sim::tracee
