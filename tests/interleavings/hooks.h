// Where the compiler's hooks end.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace anyrdma::interleavings {

/// Whether a scenario's thread runs and shares these bytes.
[[nodiscard]] bool watched(std::uintptr_t at, std::size_t size);
void on_plain(std::uintptr_t at, std::size_t size, bool writes);
[[nodiscard]] std::uint64_t on_load(std::uintptr_t at, std::size_t size, std::memory_order order);
void on_store(std::uintptr_t at, std::size_t size, std::uint64_t value, std::memory_order order);
/// What was read; `change` as Memory::modify has it.
[[nodiscard]] std::uint64_t on_modify(std::uintptr_t at, std::size_t size,
                                      const std::function<bool(std::uint64_t&)>& change,
                                      std::memory_order order, std::memory_order otherwise);
void on_fence(std::memory_order order);

}  // namespace anyrdma::interleavings
