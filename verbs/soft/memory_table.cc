#include "verbs/soft/memory_table.h"

#include "verbs/assert.h"

namespace anyrdma::verbs::soft {

SoftMr* MemoryTable::add(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova,
                         unsigned access, std::uint32_t limit) {
  if (size_ >= limit) return nullptr;
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back().key = free_.back() << 8;
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  Slot& slot = slots_[index];
  slot.key = (slot.key & ~0xffu) | ((slot.key + 1) & 0xff);
  slot.region = std::make_unique<SoftMr>();
  SoftMr& region = *slot.region;
  region.context = pd->context;
  region.pd = pd;
  region.addr = address;
  region.length = length;
  region.handle = index;
  region.lkey = region.rkey = slot.key;
  region.iova = iova;
  region.granted = access;
  ++size_;
  return &region;
}

void MemoryTable::remove(SoftMr* region) {
  // The application may have scribbled on the public fields: only the pointer counts.
  std::uint32_t index = region->handle;
  if (index >= slots_.size() || slots_[index].region.get() != region) {
    for (index = 0; index < slots_.size() && slots_[index].region.get() != region;) ++index;
  }
  CM_ASSERT(index < slots_.size());
  empty(index);
}

void MemoryTable::remove_all_of(const ibv_context* context) {
  for (std::uint32_t index = 0; index < slots_.size(); ++index)
    if (slots_[index].region && slots_[index].region->context == context) empty(index);
}

void MemoryTable::empty(std::uint32_t index) {
  slots_[index].region.reset();
  free_.push_back(index);
  --size_;
}

}  // namespace anyrdma::verbs::soft
