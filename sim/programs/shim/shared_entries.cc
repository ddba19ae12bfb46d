#include "sim/programs/shim/shared_entries.h"

#include <array>
#include <span>

#include "recording/packed.h"
#include "sim/host.h"

namespace anyrdma::sim::programs {

using transport::realtime::SharedMemory;
static_assert(recording::kPackedBytesMax <= EntryQueue::kEntryBytesMax);

std::unique_ptr<SharedEntries> SharedEntries::map(const transport::realtime::Descriptor& memory) {
  auto mapped = SharedMemory::map(memory.get(), sizeof(EntryQueue));
  if (!mapped) return nullptr;
  return std::unique_ptr<SharedEntries>(new SharedEntries(std::move(*mapped)));
}

bool SharedEntries::tell(Host& host, std::string_view process) {
  if (broken_) return true;
  auto& queue = *reinterpret_cast<EntryQueue*>(memory_.bytes().data());
  std::array<std::uint8_t, EntryQueue::kEntryBytesMax> copy;
  std::size_t size = 0;
  recording::Entry entry;
  while (true) {
    const EntryQueue::Got got = queue.take(taken_, copy, size);
    if (got == EntryQueue::Got::kNothing) return true;
    broken_ =
        got == EntryQueue::Got::kNonsense || !recording::unpack(std::span(copy).first(size), entry);
    if (broken_) return false;
    host.processes().hear(process, entry);
  }
}

}  // namespace anyrdma::sim::programs
