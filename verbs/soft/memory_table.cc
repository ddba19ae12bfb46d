#include "verbs/soft/memory_table.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "verbs/assert.h"
#include "verbs/soft/own_memory.h"
#include "verbs/soft/window_key.h"

namespace anyrdma::verbs::soft {

namespace {

constexpr std::size_t kAlignment = 4096;  // of device memory, whatever is asked for

}  // namespace

// A free index whose slot has a fresh key.
std::uint32_t MemoryTable::take_index() {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back().key = free_.back() << 8 | first_generation_;
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  Slot& slot = slots_[index];
  slot.key = (slot.key & ~0xffu) | ((slot.key + 1) & 0xff);
  return index;
}

// --- regions ------------------------------------------------------------------------------------

SoftMr* MemoryTable::add(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova,
                         unsigned access, std::uint32_t limit) {
  if (size_ >= limit) return nullptr;
  const std::uint32_t index = take_index();
  Slot& slot = slots_[index];
  slot.region = std::make_unique<SoftMr>();
  SoftMr& region = *slot.region;
  region.context = pd->context;
  region.pd = pd;
  region.addr = address;
  region.length = length;
  region.index = index;
  region.handle = handles_->add(region);
  region.lkey = region.rkey = slot.key;
  region.iova = iova;
  region.granted = access;
  open(slot, region, address);
  ++size_;
  return &region;
}

SoftMr* MemoryTable::add_null(ibv_pd* pd, std::uint32_t limit) {
  SoftMr* region = add(pd, nullptr, std::numeric_limits<std::size_t>::max(), 0, 0, limit);
  if (region == nullptr) return nullptr;
  region->null = true;
  region->rkey = 0;
  slots_[region->index].length = 0;
  return region;
}

bool MemoryTable::is_null(std::uint32_t key, const void* domain) const {
  const SoftMr* region = find_region(key);
  return region != nullptr && region->null && region->pd == domain;
}

bool MemoryTable::is_relaxed(std::uint32_t key) const {
  const std::uint32_t index = key >> 8;
  if (index >= slots_.size() || slots_[index].key != key) return false;
  const Slot& slot = slots_[index];
  const SoftMr* const region = slot.window ? slot.window->region : slot.region.get();
  return region != nullptr && (region->granted & IBV_ACCESS_RELAXED_ORDERING) != 0;
}

// The rights that its key gives.
void MemoryTable::grant(Slot& slot, unsigned access, bool on_demand) {
  slot.granted = on_demand ? 0 : access;
  slot.on_demand = on_demand ? access : 0;
}

void MemoryTable::open(Slot& slot, const SoftMr& region, void* memory) {
  grant(slot, region.granted | kLocalRead, (region.granted & IBV_ACCESS_ON_DEMAND) != 0);
  slot.domain = region.pd;
  slot.iova = region.iova;
  slot.length = region.length;
  slot.base = static_cast<std::uint8_t*>(memory);
}

void MemoryTable::change(SoftMr& region, ibv_pd* pd, void* address, std::size_t length,
                         std::uint64_t iova, unsigned access) {
  region.pd = pd;
  region.addr = address;
  region.length = length;
  region.iova = iova;
  region.granted = access;
  open(slots_[region.index], region, address);
}

void MemoryTable::revoke(const SoftMr& region) {
  for (Slot& slot : slots_) {
    if (slot.region.get() == &region || (slot.window && slot.window->region == &region))
      grant(slot, 0, false);
  }
}

bool MemoryTable::is_dmabuf(std::uint32_t key) const {
  const SoftMr* const region = find_region(region_key_of(key));
  return region != nullptr && region->dmabuf != nullptr;
}

std::uint32_t MemoryTable::region_key_of(std::uint32_t key) const {
  const std::uint32_t index = key >> 8;
  if (index >= slots_.size() || slots_[index].key != key) return 0;
  const Slot& slot = slots_[index];
  const SoftMr* const region = slot.window ? slot.window->region : slot.region.get();
  return region == nullptr ? 0 : region->lkey;
}

const SoftMr* MemoryTable::find_region(std::uint32_t key) const {
  const std::uint32_t index = key >> 8;
  if (index >= slots_.size() || slots_[index].key != key) return nullptr;
  return slots_[index].region.get();
}

// A device whose pages are brought in on demand meets what is not there only now.
std::uint8_t* MemoryTable::fault(const Slot& slot, std::uint64_t offset, std::uint64_t length,
                                 unsigned access) {
  constexpr unsigned kWrites =
      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
  if ((slot.on_demand & access) != access) return nullptr;
  // A base of null is the whole address space.
  auto* const at =
      reinterpret_cast<std::uint8_t*>(reinterpret_cast<std::uintptr_t>(slot.base) + offset);
  return bring_in(at, length, (access & kWrites) != 0) ? at : nullptr;
}

const SoftMr* MemoryTable::region_of_handle(std::uint32_t handle) const {
  for (const Slot& slot : slots_)
    if (slot.region && slot.region->registration.handle() == handle) return slot.region.get();
  return nullptr;
}

void MemoryTable::remove(SoftMr* region) {
  CM_ASSERT(region->windows == 0);
  empty(region->index);
}

void MemoryTable::remove_all_of(const ibv_context* context, Graveyard& graveyard) {
  // Windows first: they refer to regions.
  for (std::uint32_t index = 0; index < slots_.size(); ++index)
    if (slots_[index].window && slots_[index].window->context == context) empty(index, &graveyard);
  for (std::uint32_t index = 0; index < slots_.size(); ++index)
    if (slots_[index].region && slots_[index].region->context == context) empty(index, &graveyard);
  std::erase_if(device_memories_, [&](auto& memory) {
    if (memory->context != context) return false;
    graveyard.bury<ibv_dm>(memory.release());
    return true;
  });
}

void MemoryTable::empty(std::uint32_t index, Graveyard* graveyard) {
  Slot& slot = slots_[index];
  --(slot.window ? windows_ : size_);
  if (slot.region && slot.region->device_memory != nullptr) --slot.region->device_memory->regions;
  close(slot);
  if (graveyard != nullptr && slot.region) graveyard->bury<ibv_mr>(slot.region.release());
  if (graveyard != nullptr && slot.window) graveyard->bury<ibv_mw>(slot.window.release());
  slot.region.reset();
  slot.window.reset();
  free_.push_back(index);
}

// Its key opens nothing any more.
void MemoryTable::close(Slot& slot) {
  slot.domain = nullptr;
  if (!slot.window || slot.window->region == nullptr) return;
  --slot.window->region->windows;
  slot.window->region = nullptr;
}

// --- device memory ------------------------------------------------------------------------------

std::uint8_t* SoftDm::bytes() {
  const auto start = reinterpret_cast<std::uintptr_t>(storage->data());
  return storage->data() + (0 - start) % kAlignment;
}

SoftDm* MemoryTable::add_device_memory(ibv_context* context, std::size_t bytes, std::size_t limit) {
  std::size_t used = 0;
  std::set<const void*> seen;  // some share theirs
  for (const auto& each : device_memories_)
    if (seen.insert(each->storage.get()).second) used += each->size;
  if (bytes > limit - std::min(used, limit)) return nullptr;
  auto memory = std::make_unique<SoftDm>();
  memory->context = context;
  memory->size = bytes;
  memory->handle = handles_->add(*memory);
  memory->storage = std::make_shared<std::vector<std::uint8_t>>(bytes + kAlignment);
  device_memories_.push_back(std::move(memory));
  return device_memories_.back().get();
}

SoftDm* MemoryTable::import_device_memory(ibv_context* context, std::uint32_t handle) {
  const auto found = std::ranges::find(
      device_memories_, handle, [](const auto& each) { return each->registration.handle(); });
  if (found == device_memories_.end()) return nullptr;
  auto memory = std::make_unique<SoftDm>();
  static_cast<ibv_dm&>(*memory) = **found;
  memory->context = context;
  memory->size = (*found)->size;
  memory->storage = (*found)->storage;
  memory->handle = handles_->add(*memory);
  device_memories_.push_back(std::move(memory));
  return device_memories_.back().get();
}

void MemoryTable::remove_device_memory(SoftDm* memory) {
  CM_ASSERT(memory->regions == 0);
  std::erase_if(device_memories_, [memory](const auto& each) { return each.get() == memory; });
}

// --- windows ------------------------------------------------------------------------------------

SoftMw* MemoryTable::add_window(ibv_pd* pd, ibv_mw_type type, std::uint32_t limit) {
  if (windows_ >= limit) return nullptr;
  const std::uint32_t index = take_index();
  Slot& slot = slots_[index];
  slot.window = std::make_unique<SoftMw>();
  SoftMw& window = *slot.window;
  window.context = pd->context;
  window.pd = pd;
  window.rkey = slot.key;
  window.index = index;
  window.handle = handles_->add(window);
  window.type = type;
  ++windows_;
  return &window;
}

void MemoryTable::remove_window(SoftMw* window) {
  empty(window->index);
}

bool MemoryTable::may_bind(const WindowBinding& binding, const SoftMw& window, const Slot* region,
                           const ibv_qp& qp) {
  const bool type_2 = window.type == IBV_MW_TYPE_2;
  if (window.pd != qp.pd) return false;
  // To bind a window of type 2 again it must be invalidated first; type 1 is unbound so.
  if (type_2 && (window.region != nullptr || binding.length == 0)) return false;
  if (binding.length == 0) return true;
  constexpr unsigned kRemote =
      IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  // The right to write locally means nothing to a window, but programs give it (rdma-core's tests).
  const unsigned known =
      kRemote | IBV_ACCESS_LOCAL_WRITE | (type_2 ? unsigned{IBV_ACCESS_ZERO_BASED} : 0u);
  if ((binding.access & ~known) != 0) return false;
  if (region == nullptr || region->region->pd != qp.pd) return false;
  // What is opened to others for writing must be writable for ourselves (C11-75).
  constexpr unsigned kWrites = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
  const unsigned needed = IBV_ACCESS_MW_BIND |
                          ((binding.access & kWrites) != 0 ? unsigned{IBV_ACCESS_LOCAL_WRITE} : 0u);
  if ((region->region->granted & needed) != needed) return false;
  const std::uint64_t offset = binding.address - region->iova;
  return offset <= region->length && binding.length <= region->length - offset;
}

bool MemoryTable::bind(const WindowBinding& binding, const ibv_qp& qp) {
  const std::uint32_t index = binding.window >> 8;
  if (index >= slots_.size() || !slots_[index].window) return false;
  Slot& slot = slots_[index];
  const std::uint32_t of_region = binding.region >> 8;
  const Slot* region = of_region < slots_.size() && slots_[of_region].region &&
                               slots_[of_region].key == binding.region
                           ? &slots_[of_region]
                           : nullptr;
  if (!may_bind(binding, *slot.window, region, qp)) return false;
  close(slot);
  slot.key = bound_key(slot.key, binding.key);
  if (binding.length == 0) return true;
  const bool zero_based = (binding.access & IBV_ACCESS_ZERO_BASED) != 0;
  slot.window->region = region->region.get();
  ++region->region->windows;
  grant(slot, binding.access & ~unsigned{IBV_ACCESS_LOCAL_WRITE}, region->on_demand != 0);
  slot.domain = slot.window->type == IBV_MW_TYPE_2 ? static_cast<const void*>(&qp) : qp.pd;
  slot.iova = zero_based ? 0 : binding.address;
  slot.length = binding.length;
  slot.base = region->base + (binding.address - region->iova);
  return true;
}

bool MemoryTable::invalidate(std::uint32_t key, const ibv_qp& qp) {
  const std::uint32_t index = key >> 8;
  if (index >= slots_.size()) return false;
  Slot& slot = slots_[index];
  if (slot.key != key || !slot.window || slot.domain != &qp) return false;
  close(slot);
  return true;
}

void MemoryTable::unbind_all_of(const ibv_qp& qp) {
  if (windows_ == 0) return;
  for (Slot& slot : slots_)
    if (slot.domain == &qp) close(slot);
}

}  // namespace anyrdma::verbs::soft
