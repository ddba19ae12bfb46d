// The notes of a core file: its threads with their registers, its program and its files.
// Source: core(5), elf(5), <sys/procfs.h>; Linux's fs/binfmt_elf.c for the order.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <csignal>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/debug/core/mappings.h"

namespace anyrdma::sim::debug {

struct CoreThread {
  pid_t number = 0;  ///< as the program knows it
  user_regs_struct general{};
  std::vector<std::byte> extended{};  ///< as NT_X86_XSTATE has it; empty: not known
  int signal = 0;                     ///< that ends the process; 0: none
  std::optional<siginfo_t> signal_info{};
};

struct CoreProcess {
  pid_t pid = 0;     ///< that the supervisor traces
  pid_t number = 0;  ///< as the program knows it
  pid_t parent = 0;
  std::string program{};              ///< its short name
  std::string arguments{};            ///< with blanks between them
  std::string auxiliary{};            ///< its auxiliary vector
  std::vector<CoreThread> threads{};  ///< gdb begins in the first one
};

/// Returns the bytes of the PT_NOTE segment.
[[nodiscard]] std::string notes_of(const CoreProcess& process, std::span<const Mapping> mappings);

}  // namespace anyrdma::sim::debug
