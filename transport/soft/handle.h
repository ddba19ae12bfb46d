// Numbers of endpoints, for use instead of pointers: the number of a destroyed endpoint finds
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace anyrdma::transport::soft {

class SoftEndpoint;

/// Slot index in the low half, the slot's generation in the high half. Also the value of the
/// NeighbourToken of an endpoint's query.
enum class Handle : std::uint64_t {};

/// The table of endpoints by number. All functions take constant time; memory is allocated only
/// when it grows.
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

  /// Returns the endpoint; null: it was destroyed.
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
