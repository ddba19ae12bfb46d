// How bytes land in a peer's memory. Programs wait for an RDMA WRITE by looking at its last byte,
// as network adapters place bytes in ascending order; memcpy promises no order.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace anyrdma::transport::fabric {

/// Copies with the last aligned word of 8 bytes, or what there is of it, after all others, and that
/// one in as few stores as its alignment allows.
inline void place(std::uint8_t* to, const std::uint8_t* from, std::size_t size) {
  if (size == 0) return;
  const std::size_t in_last_word = ((reinterpret_cast<std::uintptr_t>(to) + size - 1) & 7) + 1;
  std::size_t left = in_last_word < size ? in_last_word : size;
  std::size_t at = size - left;
  if (at > 0) {
    std::memcpy(to, from, at);
    std::atomic_thread_fence(std::memory_order_release);
  }
  const auto store = [&]<class T>(T word) {
    std::memcpy(&word, from + at, sizeof word);
    __atomic_store_n(reinterpret_cast<T*>(to + at), word, __ATOMIC_RELEASE);
    at += sizeof word;
    left -= sizeof word;
  };
  while (left > 0) {
    const std::size_t alignment = (reinterpret_cast<std::uintptr_t>(to) + at) & 7;
    if (left == 8) {
      store(std::uint64_t{});
    } else if (left >= 4 && (alignment & 3) == 0) {
      store(std::uint32_t{});
    } else if (left >= 2 && (alignment & 1) == 0) {
      store(std::uint16_t{});
    } else {
      store(std::uint8_t{});
    }
  }
}

}  // namespace anyrdma::transport::fabric
