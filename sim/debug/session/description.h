// The registers of a thread on x86-64 as gdb is told of them: names, sizes and order.
// Source: GDB manual, "Target Description Format", "i386 Features".
#pragma once

#include <sys/user.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace anyrdma::sim::debug {

/// For qXfer:features: core registers, SSE, AVX, segments and orig_rax.
[[nodiscard]] const std::string& target_description();

struct RegisterPlace {
  std::size_t offset = 0;  ///< among the bytes of all registers
  std::size_t bytes = 0;
};
/// By gdb's number. nullopt: there is none such.
[[nodiscard]] std::optional<RegisterPlace> place_of_register(std::uint64_t number);
[[nodiscard]] std::size_t bytes_of_registers();

/// The state of a thread as ptrace(2) has it. `extended` is NT_X86_XSTATE in its standard form.
struct ThreadState {
  user_regs_struct& general;
  std::span<std::byte> extended;
};
[[nodiscard]] std::string packed(const ThreadState& state);
/// False: it is not so many bytes.
[[nodiscard]] bool unpack(std::string_view bytes, const ThreadState& state);

}  // namespace anyrdma::sim::debug
