#include "sim/programs/shim/shared_clock.h"

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
  points_ = static_cast<std::int64_t>(face.points);
  written.forgone.store(0, kRelaxed);
  written.points.store(points_, kRelaxed);
}

SharedClock::Use SharedClock::close() {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  page().allowed.store(0, kRelaxed);
  // The program may write there what it likes.
  const auto all = std::min(page().readings.load(kRelaxed), std::exchange(allowed_, 0));
  const std::int64_t allowed = std::exchange(points_, 0);
  const std::int64_t left = std::clamp<std::int64_t>(page().points.load(kRelaxed), 0, allowed);
  const std::int64_t forgone =
      std::clamp<std::int64_t>(page().forgone.load(kRelaxed), 0, allowed - left);
  page().points.store(0, kRelaxed);
  return {.readings = all,
          .own = std::min(page().own.load(kRelaxed), all),
          .points = static_cast<std::uint64_t>(allowed - left - forgone)};
}

}  // namespace anyrdma::sim::programs
