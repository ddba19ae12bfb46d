#include "verbs/soft/handle_table.h"

#include "verbs/assert.h"

namespace anyrdma::verbs::soft {

namespace {

constexpr std::size_t kRest = 1024;  // numbers that rest before the first of them comes back

}  // namespace

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
