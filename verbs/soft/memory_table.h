// Memory regions by key, and the one place where a key becomes an address.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace anyrdma::verbs::soft {

/// What the application holds as ibv_mr.
struct SoftMr : ibv_mr {
  std::uint64_t iova;  ///< first address as remote peers and gather lists write it
  unsigned granted;    ///< ibv_access_flags
};

/// Keys are (index << 8) | generation: a key that was deregistered stays wrong for the next 255
/// registrations of its index, as the consumer-owned byte of a real key does. lkey equals rkey.
class MemoryTable {
 public:
  /// Registers; null when `limit` regions exist.
  [[nodiscard]] SoftMr* add(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova,
                            unsigned access, std::uint32_t limit);
  void remove(SoftMr* region);
  void remove_all_of(const ibv_context* context);
  [[nodiscard]] std::size_t size() const { return size_; }

  /// The memory behind [address, address + length) of a key, provided that the key is alive,
  /// belongs to the PD, covers the range and grants all of `access`; null otherwise. Length must
  /// not be 0: an empty range has no key to check (IBTA vol 1, 9.4.3).
  [[nodiscard]] std::uint8_t* translate(std::uint32_t key, const ibv_pd* pd, std::uint64_t address,
                                        std::uint64_t length, unsigned access) const {
    const std::uint32_t index = key >> 8;
    if (index >= slots_.size()) return nullptr;
    const Slot& slot = slots_[index];
    if (slot.key != key || !slot.region) return nullptr;
    const SoftMr& region = *slot.region;
    const std::uint64_t offset = address - region.iova;
    if (region.pd != pd || offset > region.length || length > region.length - offset)
      return nullptr;
    if ((region.granted & access) != access) return nullptr;
    return static_cast<std::uint8_t*>(region.addr) + offset;
  }

 private:
  struct Slot {
    std::uint32_t key = 0;
    std::unique_ptr<SoftMr> region;
  };
  void empty(std::uint32_t index);

  std::vector<Slot> slots_ = std::vector<Slot>(1);  // index 0 is never used: key 0 is always wrong
  std::vector<std::uint32_t> free_;
  std::size_t size_ = 0;
};

}  // namespace anyrdma::verbs::soft
