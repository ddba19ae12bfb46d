// The addresses at which objects were destroyed last.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>

namespace anyrdma::base {

/// Remembers the last 64 addresses that were added and not removed again. Any thread may call each
/// function: the slots are independent of each other, and no other memory depends on them.
/// Preconditions: no address is null.
class EndedAddresses {
 public:
  /// The object at `address` ends. Call this before its memory is free.
  void add(const void* address) {
    slots_[next_.fetch_add(1, std::memory_order_relaxed) % slots_.size()] = address;
  }
  /// The address is that of an object again.
  void remove(const void* address) {
    for (std::atomic<const void*>& each : slots_) {
      const void* expected = address;
      each.compare_exchange_strong(expected, nullptr);
    }
  }
  [[nodiscard]] bool has(const void* address) const {
    return std::ranges::any_of(slots_, [address](const auto& each) { return each == address; });
  }

 private:
  std::array<std::atomic<const void*>, 64> slots_{};
  std::atomic<std::size_t> next_{0};
};

}  // namespace anyrdma::base
