// Executes the atomic operations that peers request.
#pragma once

#include <cstdint>

namespace anyrdma::verbs::soft {

inline constexpr std::uint32_t kAtomicBytes = 8;

/// The fields of an atomic request from a peer, in the byte order of the host.
struct AtomicRequest {
  bool compare_swap = false;  ///< false: fetch and add
  std::uint64_t swap_or_add = 0;
  std::uint64_t compare = 0;  ///< operand of compare and swap
};

/// Executes an atomic operation on 8 aligned bytes and returns their original value. The function
/// uses the processor's atomic instructions. The operation is therefore atomic towards every other
/// device, process and thread that shares this memory (IBV_ATOMIC_GLOB).
inline std::uint64_t execute_atomic(void* at, const AtomicRequest& request) {
  // Uses the compiler's builtins, so that this module needs no <atomic>.
  auto* const word = static_cast<std::uint64_t*>(at);
  if (!request.compare_swap) return __atomic_fetch_add(word, request.swap_or_add, __ATOMIC_SEQ_CST);
  std::uint64_t original = request.compare;
  __atomic_compare_exchange_n(word, &original, request.swap_or_add, false, __ATOMIC_SEQ_CST,
                              __ATOMIC_SEQ_CST);
  return original;
}

/// Stores 8 aligned bytes by one atomic write, in the byte order in which they arrived in the
/// packet.
inline void execute_atomic_write(void* at, std::uint64_t value) {
  __atomic_store_n(static_cast<std::uint64_t*>(at), value, __ATOMIC_SEQ_CST);
}

/// Whether an address has the alignment that an atomic operation requires, 8 bytes (IBTA vol 1,
/// 9.4.5).
[[nodiscard]] constexpr bool is_atomic_address(std::uint64_t address) {
  return address % kAtomicBytes == 0;
}

}  // namespace anyrdma::verbs::soft
