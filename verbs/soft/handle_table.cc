#include "verbs/soft/handle_table.h"

#include "verbs/assert.h"

namespace anyrdma::verbs::soft {

namespace {

constexpr std::size_t kRest = 1024;  // numbers that rest before the first of them comes back

}  // namespace

std::string_view name_of(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kNone:
      break;
    case ObjectKind::kProtectionDomain:
      return "protection domain";
    case ObjectKind::kCompletionQueue:
      return "completion queue";
    case ObjectKind::kQueuePair:
      return "queue pair";
    case ObjectKind::kSharedReceiveQueue:
      return "shared receive queue";
    case ObjectKind::kMemoryRegion:
      return "memory region";
    case ObjectKind::kMemoryWindow:
      return "memory window";
    case ObjectKind::kAddressHandle:
      return "address handle";
    case ObjectKind::kDeviceMemory:
      return "device memory";
    case ObjectKind::kExtendedDomain:
      return "extended connection domain";
  }
  return "object";
}

void Registration::end() {
  if (HandleTable* const table = std::exchange(table_, nullptr)) table->remove(handle_);
}

std::uint32_t HandleTable::take(const Entry& entry) {
  if (free_.size() <= kRest) {
    entries_.push_back(entry);
    return static_cast<std::uint32_t>(entries_.size() - 1);
  }
  const std::uint32_t handle = free_.pop_front();
  entries_[handle] = entry;
  return handle;
}

void HandleTable::remove(std::uint32_t handle) {
  CM_ASSERT(entries_[handle].kind != ObjectKind::kNone);
  entries_[handle] = Entry{};
  free_.push_back(handle);
}

}  // namespace anyrdma::verbs::soft
