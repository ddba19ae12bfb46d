#include "sim/debug/core/notes.h"

#include <elf.h>
#include <sys/procfs.h>

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace anyrdma::sim::debug {
namespace {

constexpr std::size_t kLegacyBytes = sizeof(user_fpregs_struct);  // of FXSAVE

template <class Value>
std::string_view bytes_of(const Value& value) {
  static_assert(std::is_trivially_copyable_v<Value>);
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

void pad(std::string& bytes) {
  constexpr std::size_t kAlignment = 4;
  bytes.resize((bytes.size() + kAlignment - 1) / kAlignment * kAlignment);
}

void add_note(std::string& notes, std::string_view owner, std::uint32_t kind,
              std::string_view content) {
  const Elf64_Nhdr head{.n_namesz = static_cast<Elf64_Word>(owner.size() + 1),
                        .n_descsz = static_cast<Elf64_Word>(content.size()),
                        .n_type = kind};
  notes += bytes_of(head);
  notes += owner;
  notes += '\0';
  pad(notes);
  notes += content;
  pad(notes);
}

void add_status(std::string& notes, const CoreProcess& process, const CoreThread& thread) {
  elf_prstatus status{};
  status.pr_info.si_signo = thread.signal;
  status.pr_cursig = static_cast<short>(thread.signal);
  status.pr_pid = thread.number;
  status.pr_ppid = process.parent;
  status.pr_pgrp = status.pr_sid = process.number;
  static_assert(sizeof status.pr_reg == sizeof thread.general);
  std::memcpy(&status.pr_reg, &thread.general, sizeof thread.general);
  status.pr_fpvalid = thread.extended.empty() ? 0 : 1;
  add_note(notes, "CORE", NT_PRSTATUS, bytes_of(status));
}

void add_extended(std::string& notes, const CoreThread& thread) {
  if (thread.extended.size() < kLegacyBytes) return;
  const std::string_view all(reinterpret_cast<const char*>(thread.extended.data()),
                             thread.extended.size());
  add_note(notes, "CORE", NT_FPREGSET, all.substr(0, kLegacyBytes));
  add_note(notes, "LINUX", NT_X86_XSTATE, all);
}

void add_program(std::string& notes, const CoreProcess& process) {
  elf_prpsinfo info{};
  info.pr_sname = 'R';
  info.pr_pid = process.number;
  info.pr_ppid = process.parent;
  info.pr_pgrp = info.pr_sid = process.number;
  process.program.copy(info.pr_fname, sizeof info.pr_fname - 1);
  process.arguments.copy(info.pr_psargs, sizeof info.pr_psargs - 1);
  add_note(notes, "CORE", NT_PRPSINFO, bytes_of(info));
}

void add_files(std::string& notes, std::span<const Mapping> mappings) {
  std::string places;
  std::string names;
  std::uint64_t count = 0;
  for (const Mapping& each : mappings) {
    if (each.inode == 0 || each.path.empty()) continue;
    ++count;
    places += bytes_of(each.begin);
    places += bytes_of(each.end);
    places += bytes_of(each.offset / kPageBytes);
    names += each.path;
    names += '\0';
  }
  add_note(notes, "CORE", NT_FILE,
           std::string(bytes_of(count)) + std::string(bytes_of(kPageBytes)) + places + names);
}

}  // namespace

std::string notes_of(const CoreProcess& process, std::span<const Mapping> mappings) {
  std::string notes;
  bool first = true;
  for (const CoreThread& thread : process.threads) {
    add_status(notes, process, thread);
    if (std::exchange(first, false)) {
      add_program(notes, process);
      if (thread.signal_info) add_note(notes, "CORE", NT_SIGINFO, bytes_of(*thread.signal_info));
      add_note(notes, "CORE", NT_AUXV, process.auxiliary);
      add_files(notes, mappings);
    }
    add_extended(notes, thread);
  }
  return notes;
}

}  // namespace anyrdma::sim::debug
