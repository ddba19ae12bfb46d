#include "sim/programs/shared_clock.h"

#include <algorithm>
#include <utility>

namespace anyrdma::sim::programs {

using transport::realtime::SharedMemory;

std::shared_ptr<SharedClock> SharedClock::map(const transport::realtime::Descriptor& memory) {
  auto mapped = SharedMemory::map(memory.get(), kClockBytes);
  if (!mapped) return nullptr;
  return std::shared_ptr<SharedClock>(new SharedClock(std::move(*mapped)));
}

void SharedClock::open(const Face& face) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  ClockPage& written = page();
  allowed_ = face.readings;
  written.readings.store(0, kRelaxed);
  written.own.store(0, kRelaxed);
  written.allowed.store(face.readings, kRelaxed);
  written.cost.store(face.cost.count(), kRelaxed);
  written.up.store(face.up.count(), kRelaxed);
  written.date.store(face.date.count(), kRelaxed);
}

SharedClock::Readings SharedClock::close() {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  page().allowed.store(0, kRelaxed);
  // The program may write there what it likes.
  const auto all = std::min(page().readings.load(kRelaxed), std::exchange(allowed_, 0));
  return {.all = all, .own = std::min(page().own.load(kRelaxed), all)};
}

}  // namespace anyrdma::sim::programs
