// Identifies endpoints by numbers instead of pointers, because the number of a destroyed endpoint
// finds nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace anyrdma::transport::soft {

class SoftEndpoint;

/// The number of an endpoint: the index of its slot in the low half, the generation of the slot in
/// the high half. The NeighbourToken of the endpoint's question has the same value.
enum class Handle : std::uint64_t {};

/// The table of endpoints by number. All functions take constant time. Memory is allocated only
/// when the table grows.
class EndpointRegistry {
 public:
  [[nodiscard]] Handle add(SoftEndpoint& endpoint) {
    if (free_.empty()) {
      slots_.push_back({&endpoint, 0});
      return handle(slots_.size() - 1);
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    slots_[index].endpoint = &endpoint;
    return handle(index);
  }

  /// Returns the endpoint with this number. Null: it was destroyed.
  [[nodiscard]] SoftEndpoint* find(Handle handle) const {
    const std::uint32_t index = index_of(handle);
    if (index >= slots_.size() || slots_[index].generation != generation_of(handle)) return nullptr;
    return slots_[index].endpoint;
  }

  void remove(Handle handle) {
    Slot& slot = slots_[index_of(handle)];
    slot.endpoint = nullptr;
    ++slot.generation;
    free_.push_back(index_of(handle));
  }

  [[nodiscard]] std::size_t size() const { return slots_.size() - free_.size(); }

 private:
  struct Slot {
    SoftEndpoint* endpoint;
    std::uint32_t generation;
  };
  [[nodiscard]] static std::uint32_t index_of(Handle handle) {
    return static_cast<std::uint32_t>(handle);
  }
  [[nodiscard]] static std::uint32_t generation_of(Handle handle) {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(handle) >> 32);
  }
  [[nodiscard]] Handle handle(std::size_t index) const {
    return Handle{std::uint64_t{slots_[index].generation} << 32 | index};
  }

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace anyrdma::transport::soft
